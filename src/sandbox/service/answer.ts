import type { Context } from 'hono';
import { writeLine } from '../../errors/log.js';
import { describeInFull } from '../../errors/text.js';
import type { Markets } from '../markets.js';
import type { Market } from '../trade/market.js';
import { Refusal } from '../trade/refusal.js';
import { takesJson } from './accept.js';
import { ErrorAnswer } from './answers.js';
import { authenticate } from './authentication.js';

/** Authenticates a request and answers it. Everything thrown on the way becomes an error answer. */
export async function answer(
  context: Context,
  markets: Markets,
  work: (market: Market) => Promise<Response> | Response,
): Promise<Response> {
  try {
    const market = authenticate(markets, context.req.header('authorization'));
    if (!takesJson(context.req.header('accept'))) throw new ErrorAnswer(406);
    return await market.account.clock.during(() => work(market));
  } catch (error) {
    return toErrorAnswer(error).toResponse();
  }
}

function toErrorAnswer(error: unknown): ErrorAnswer {
  if (error instanceof ErrorAnswer) return error;
  if (error instanceof Refusal) {
    return error.code === 'not_found'
      ? new ErrorAnswer(404, { message: error.message })
      : new ErrorAnswer(400, { errors: [error.message] });
  }
  writeLine(`sandbox: ${describeInFull(error)}`, 'operate.md#sandbox');
  return new ErrorAnswer(500);
}
