/** The event of a function URL, of API Gateway (payload formats 1.0 and 2.0), or of a load balancer. */
export interface LambdaEvent {
  readonly headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  /** In the formats that have it, `headers` holds only the last of several values. */
  readonly multiValueHeaders?: Values | null | undefined;
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean;
  readonly httpMethod?: string;
  readonly path?: string;
  readonly rawPath?: string;
  readonly rawQueryString?: string;
  readonly queryStringParameters?: Record<string, string | undefined> | null | undefined;
  readonly multiValueQueryStringParameters?: Values | null | undefined;
  readonly requestContext?: {
    readonly http?: { readonly method: string };
    // Not read: it makes this fit the types of format 1.0.
    readonly httpMethod?: string;
    readonly elb?: unknown;
  };
}

type Values = Readonly<Record<string, readonly string[] | undefined>>;
