import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

// A key of its own, for these tests only, and a certificate for localhost that no authority has issued.
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgOeklYpWHdH08lo6u
tmuZQPnGEq6ttOIpdk8JNlpZJ4GhRANCAAQqcBzYKyo8tRBknj/jicqlWTPnVasB
1sg0VYvAyE/Ca82lkNk/vWzBBz1EhF42uSpoZrC2stV35ZPnerkRJDsd
-----END PRIVATE KEY-----`;

const cert = `-----BEGIN CERTIFICATE-----
MIIBdTCCARqgAwIBAgIUOZLk5KkWqb5oz/9JjHVorxG9iaIwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
MDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQqcBzYKyo8tRBknj/jicqlWTPnVasB1sg0VYvAyE/Ca82lkNk/vWzB
Bz1EhF42uSpoZrC2stV35ZPnerkRJDsdo0gwRjAUBgNVHREEDTALgglsb2NhbGhv
c3QwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQUIGzzB1LphJew6UHVPfq/vPhK
2hIwCgYIKoZIzj0EAwIDSQAwRgIhANFtC4g+Ro96yVATxfWjEzTIOd+6f6TGi42J
V//BGSc3AiEA8CUz2vBNsKlP74lJDsfLHkXdaN8FEGHnAw/QJ5GeZKg=
-----END CERTIFICATE-----`;

/** For a server of TLS. No client trusts it. */
export const selfSigned = { key, cert };

/** Serves over HTTPS with a certificate that no client trusts, until the test has ended. */
export async function serveSelfSigned(listener: RequestListener): Promise<string> {
  const server = createServer(selfSigned, listener);
  await once(server.listen(0), 'listening');
  onTestFinished(() => void server.close());
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}
