import { ErrorAnswer } from './answers.js';

/**
 * Reads the body of a request as text.
 *
 * @throws {ErrorAnswer} 400, if the body is larger than `limit` bytes.
 */
export async function readText(request: Request, limit: number): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(limit);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function tooLarge(limit: number): ErrorAnswer {
  return new ErrorAnswer(400, { errors: [`the body has to be at most ${limit} bytes`] });
}
