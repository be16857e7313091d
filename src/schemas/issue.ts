/** One thing that is wrong with a payload. */
export interface Issue {
  /** The field, such as `crypto_value` or `image.url`; empty for the payload as a whole. */
  readonly path: string;
  readonly message: string;
  /** Said by a schema of yours: `path` and `message` may quote the payload, and are kept to the hooks. */
  readonly foreign?: true;
}
