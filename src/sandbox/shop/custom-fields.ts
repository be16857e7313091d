import { html } from 'hono/html';
import { CUSTOM_FIELD_TYPES } from '../../schemas/product.js';
import type { JsonObject } from '../../schemas/values.js';
import type { KeptProduct } from '../state/kinds.js';
import { COUNTRY_CODES } from '../trade/countries.js';
import { countryOptions } from './countries.js';
import type { Fault, Html } from './page.js';
import { type Filled, markFault } from './refused.js';

/** A field that a product asks for at checkout (specification: Custom checkout field). */
interface CustomField {
  readonly type: (typeof CUSTOM_FIELD_TYPES)[number];
  readonly name: string;
  readonly required: boolean;
}

/** The choices of a select. The specification does not show any. */
const CHOICES = ['First choice', 'Second choice', 'Third choice'];

/** The customer's input by field name, and its faults. */
export interface CustomRead {
  readonly custom: JsonObject;
  readonly faults: readonly Fault[];
}

function fieldsOf({ custom }: KeptProduct): CustomField[] {
  return custom.flatMap(({ type, name, required }) => {
    if (typeof name !== 'string' || name === '') return [];
    const known = CUSTOM_FIELD_TYPES.find((one) => one === type) ?? 'text';
    return { type: known, name, required: required === true };
  });
}

/** Returns the name of a field in the form. A link to the product can fill in the field by this name. */
function inputName({ name }: CustomField): string {
  return `custom[${name}]`;
}

/** Reads the product's custom fields from its form. */
export function readCustom(product: KeptProduct, form: URLSearchParams): CustomRead {
  const faults: Fault[] = [];
  const entries = fieldsOf(product).flatMap((field): [string, unknown][] => {
    const { type, name } = field;
    const text = (form.get(inputName(field)) ?? '').trim();
    const sentence = faultOf(field, text);
    // A hidden field cannot show a fault.
    const input = type === 'hidden' ? {} : { field: inputName(field) };
    if (sentence) faults.push({ sentence, ...input });
    if (type === 'checkbox') return [[name, text !== '']];
    if (text === '') return [];
    return [[name, type === 'number' ? Number(text) : text]];
  });
  return { custom: Object.fromEntries(entries), faults };
}

function faultOf({ type, name, required }: CustomField, text: string): string | undefined {
  if (text === '') return required ? `${name} is required.` : undefined;
  switch (type) {
    case 'number':
      return Number.isFinite(Number(text)) ? undefined : `${name} has to be a number.`;
    case 'select':
      return CHOICES.includes(text) ? undefined : `${name} has to be one of its choices.`;
    case 'country_dropdown':
      return COUNTRY_CODES.includes(text) ? undefined : `${name} has to be a country.`;
    default:
      return undefined;
  }
}

/** Returns the product's custom fields, filled with the customer's earlier input. */
export function customFields(product: KeptProduct, filled: Filled): Html[] {
  return fieldsOf(product).map((field, index) => showField(field, `custom-${index}`, filled));
}

function showField(field: CustomField, id: string, filled: Filled): Html {
  const { type, name, required } = field;
  const input = inputName(field);
  const value = filled.typed.get(input) ?? '';
  const { marks, note } = markFault(filled, input, id);
  const need = html`${required && 'required'} ${marks}`;
  if (type === 'hidden') return html`<input type="hidden" name="${input}" value="${value}">`;
  const label = html`<label for="${id}">${name}${!required && html` <span class="muted">(optional)</span>`}</label>`;
  if (type === 'checkbox') {
    return html`<div class="check"><input type="checkbox" id="${id}" name="${input}" value="yes" ${value !== '' && 'checked'} ${need}>${label}</div>${note}`;
  }
  return html`<div class="field">${label}${control()}${note}</div>`;

  function control(): Html {
    switch (type) {
      case 'textarea':
        return html`<textarea id="${id}" name="${input}" ${need}>${value}</textarea>`;
      case 'number':
        return html`<input type="number" step="any" id="${id}" name="${input}" value="${value}" ${need}>`;
      case 'select':
        return html`<select id="${id}" name="${input}" ${need}><option value="">Choose one</option>${CHOICES.map(
          (choice) => html`<option ${choice === value && 'selected'}>${choice}</option>`,
        )}</select>`;
      case 'country_dropdown':
        return html`<select id="${id}" name="${input}" ${need}>${countryOptions(value)}</select>`;
      default:
        return html`<input type="text" id="${id}" name="${input}" value="${value}" ${need}>`;
    }
  }
}
