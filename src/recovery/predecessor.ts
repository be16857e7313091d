import type { WebhookLog } from '../schemas/webhook-log.js';
import { DAY_MS } from './source.js';

/**
 * The longest gap between two answers of the previous code while it runs beside this receiver. A success
 * without a receipt after a longer gap is taken for that of a maintenance page, unless it looks like an answer
 * of the previous code.
 */
const OVERLAP_MS = DAY_MS;

interface Answer {
  /** When the provider first sent the delivery. */
  readonly sentAt: number;
  readonly form: string | undefined;
}

/** The code that answered at an address before this receiver: successes without a receipt. */
export class Predecessor {
  readonly #answers: Answer[] = [];
  /** Each form once. A form of its own for each answer would keep the text of the answer in memory. */
  readonly #forms = new Map<string, string>();
  readonly #taken = new Map<string, number>();

  /** @param subject - The subject of the delivery: see `subjectOf`. */
  add(entry: WebhookLog, sentAt: number, subject: string | undefined): void {
    this.#answers.push({ sentAt, form: this.#known(formOf(entry)) });
    if (subject === undefined) return;
    this.#taken.set(subject, Math.min(sentAt, this.#taken.get(subject) ?? sentAt));
  }

  #known(form: string | undefined): string | undefined {
    if (form === undefined) return undefined;
    const known = this.#forms.get(form);
    if (known === undefined) this.#forms.set(form, form);
    return known ?? form;
  }

  get hasAnswered(): boolean {
    return this.#answers.length > 0;
  }

  /** When each subject was first sent, of those whose delivery was answered with success. */
  get taken(): ReadonlyMap<string, number> {
    return this.#taken;
  }

  /**
   * Returns until when the previous code answered; `-Infinity` if there was no previous code.
   *
   * @param first - When this receiver answered first.
   */
  answeredUntil(first: number): number {
    const before = this.#answers.filter(({ sentAt }) => sentAt < first);
    if (before.length === 0) return Number.NEGATIVE_INFINITY;
    const forms = new Set(before.flatMap(({ form }) => form ?? []));
    let until = first;
    for (const { sentAt, form } of this.#answers.sort((a, b) => a.sentAt - b.sentAt)) {
      // After a rollback, the previous code answers again, perhaps days later.
      const isItsForm = form !== undefined && forms.has(form);
      if (isItsForm || sentAt - until < OVERLAP_MS) until = Math.max(until, sentAt);
    }
    return until;
  }
}

/**
 * Returns the form of an answer, which is the same for all answers of one program: without the words that have
 * digits, such as ids and counts. `undefined` for a page of HTML.
 */
function formOf({ response, response_code }: WebhookLog): string | undefined {
  const text = response?.trim() ?? '';
  if (text.startsWith('<')) return undefined;
  return `${response_code} ${text.slice(0, MAX_FORM).replace(/[\w-]*\d[\w-]*/g, '')}`;
}

const MAX_FORM = 200;
