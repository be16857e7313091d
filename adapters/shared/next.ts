/**
 * Stores for where Next's instances come and go; nothing on a server of one's own, which is one of them.
 */
export function sharedStores(): string | undefined {
  const environment = globalThis.process?.env ?? {};
  const isHosted = ['VERCEL', 'NETLIFY', 'AWS_LAMBDA_FUNCTION_NAME', 'CF_PAGES'].some(
    (name) => environment[name],
  );
  return isHosted || 'EdgeRuntime' in globalThis ? 'postgresStore(…) or redisStore(…)' : undefined;
}
