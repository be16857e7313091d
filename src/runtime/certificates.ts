/**
 * The codes and messages of OpenSSL, which Node and Bun pass on, and Node's own for another host name. An alert is of the
 * server, about the certificate of the client.
 */
const UNTRUSTED =
  /(?:^|(?<!\balert) )certificate(?:'s|[;.])?(?: |$)|(?:^|[ _])CERT(?:[_.]|$)|UNABLE_TO_VERIFY_LEAF_SIGNATURE/;

/**
 * Returns whether a connection failed because the certificate of the server is not trusted.
 *
 * @param why - The code or the message of the error.
 */
export function isUntrusted(why: string): boolean {
  return UNTRUSTED.test(why);
}
