/** A fault in a payload. */
export interface Issue {
  /** The field, such as `crypto_value` or `image.url`; empty for the payload as a whole. */
  readonly path: string;
  readonly message: string;
  /** Set for issues of your own schema: `path` and `message` may quote the payload, so only hooks get them. */
  readonly foreign?: true;
}
