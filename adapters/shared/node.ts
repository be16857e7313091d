import { toAnswer } from './node-answer.js';
import { type NodeRequest, type NodeResponse, readRequest } from './node-request.js';
import type { Mount, Receive } from './receiver.js';

/** Answers one request of Node's, and resolves when the answer has left. */
export async function answer(
  receive: Receive,
  request: NodeRequest,
  response: NodeResponse,
  mount: Mount,
): Promise<void> {
  const reply = await receive(readRequest(request, response, mount));
  const { status, headers, body } = await toAnswer(reply, request);
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, headers);
  response.end(body);
}
