import { callProvider } from './program.js';

/** Calls the provider that the request names. */
export default {
  async fetch({ url }: { readonly url: string }): Promise<Response> {
    const { searchParams } = new URL(url);
    const origin = searchParams.get('origin') ?? '';
    return Response.json(await callProvider(origin, searchParams.get('nobody') ?? ''));
  },
};
