import { html } from 'hono/html';
import { newId } from '../trade/ids.js';
import { type Fault, goTo, type Html } from './page.js';
import type { Visit } from './visit.js';

/** The content of a form: the customer's input, and its faults. */
export interface Filled {
  readonly typed: URLSearchParams;
  /** The faults of the form, in the order of its fields. */
  readonly faults: readonly Fault[];
}

/** The latest rejected forms of each account, by the address of the page that shows them again. */
const refused = new WeakMap<Visit['market']['account'], Map<string, Filled>>();
const MOST = 20;

/**
 * Stores a rejected form, and redirects to the page that shows it again. A browser can leave this page and come
 * back.
 */
export function refuse({ market, path, form }: Visit, ...faults: readonly Fault[]): Response {
  const forms = refused.get(market.account) ?? new Map<string, Filled>();
  refused.set(market.account, forms);
  const address = `${path}?refused=${newId('form')}`;
  forms.set(address, { typed: form, faults });
  for (const oldest of [...forms.keys()].slice(0, -MOST)) forms.delete(oldest);
  return goTo(address);
}

/** Returns the content of a page's form: the rejected form that the address names, or the values in the link. */
export function filledOf({ market, path, form }: Visit): Filled {
  const found = refused.get(market.account)?.get(`${path}?refused=${form.get('refused')}`);
  return found ?? { typed: form, faults: [] };
}

/** The marks of a faulty field: attributes of its control, and the sentence after it. */
export interface Marks {
  readonly marks: Html | undefined;
  readonly note: Html | undefined;
}

/** Returns the marks of a field, if it has a fault. The first faulty field of a form gets the focus. */
export function markFault({ faults }: Filled, field: string, id: string): Marks {
  const fault = faults.find((one) => one.field === field);
  if (!fault) return { marks: undefined, note: undefined };
  return {
    marks: html`aria-invalid="true" aria-describedby="${id}-fault" ${fault === faults[0] && 'autofocus'}`,
    note: html`<p class="fault" id="${id}-fault">${fault.sentence}</p>`,
  };
}
