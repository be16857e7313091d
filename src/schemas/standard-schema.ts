/**
 * The interface that schemas of zod, valibot, arktype and others share (https://standardschema.dev), so that
 * `createReceiver({ events })` takes any of them. Types only, copied as its authors intend.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type of a schema's output. */
export type InferOutput<Schema extends StandardSchema> = NonNullable<
  Schema['~standard']['types']
>['output'];
