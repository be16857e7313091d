import { html } from 'hono/html';
import type { JsonObject } from '../../schemas/json.js';
import { CUSTOM_FIELD_TYPES } from '../../schemas/product.js';
import type { KeptProduct } from '../state/kinds.js';
import { countryOptions, isCountry } from './countries.js';
import type { Html } from './page.js';

/** A field that a product asks for at checkout (specification: Custom checkout field). */
interface CustomField {
  readonly type: (typeof CUSTOM_FIELD_TYPES)[number];
  readonly name: string;
  readonly required: boolean;
}

/** What a select offers: the specification shows none of its choices. */
const CHOICES = ['First choice', 'Second choice', 'Third choice'];

/** What the customer has written, by what is asked; and a sentence for each field that has to be filled in. */
export interface CustomRead {
  readonly custom: JsonObject;
  readonly faults: readonly string[];
}

function fieldsOf({ custom }: KeptProduct): CustomField[] {
  return custom.flatMap(({ type, name, required }) => {
    if (typeof name !== 'string' || name === '') return [];
    const known = CUSTOM_FIELD_TYPES.find((one) => one === type) ?? 'text';
    return { type: known, name, required: required === true };
  });
}

/** What a field of this name is called in the form. A link to the product can fill it in by this name. */
function inputName({ name }: CustomField): string {
  return `custom[${name}]`;
}

/** Reads the product's own fields from its form. */
export function readCustom(product: KeptProduct, form: URLSearchParams): CustomRead {
  const faults: string[] = [];
  const entries = fieldsOf(product).flatMap((field): [string, unknown][] => {
    const { type, name, required } = field;
    const text = (form.get(inputName(field)) ?? '').trim();
    if (required && text === '') faults.push(`${name} is required.`);
    if (type === 'checkbox') return [[name, text !== '']];
    if (text === '') return [];
    const fault = faultOf(field, text);
    if (fault) faults.push(fault);
    return [[name, type === 'number' ? Number(text) : text]];
  });
  return { custom: Object.fromEntries(entries), faults };
}

function faultOf({ type, name }: CustomField, text: string): string | undefined {
  switch (type) {
    case 'number':
      return Number.isFinite(Number(text)) ? undefined : `${name} has to be a number.`;
    case 'select':
      return CHOICES.includes(text) ? undefined : `${name} has to be one of its choices.`;
    case 'country_dropdown':
      return isCountry(text) ? undefined : `${name} has to be a country.`;
    default:
      return undefined;
  }
}

/** The product's own fields, with what was typed before. */
export function customFields(product: KeptProduct, typed: URLSearchParams): Html[] {
  return fieldsOf(product).map((field, index) => showField(field, `custom-${index}`, typed));
}

function showField(field: CustomField, id: string, typed: URLSearchParams): Html {
  const { type, name, required } = field;
  const input = inputName(field);
  const value = typed.get(input) ?? '';
  const need = required && 'required';
  if (type === 'hidden') return html`<input type="hidden" name="${input}" value="${value}">`;
  const label = html`<label for="${id}">${name}${!required && html` <span class="muted">(optional)</span>`}</label>`;
  if (type === 'checkbox') {
    return html`<div class="check"><input type="checkbox" id="${id}" name="${input}" value="yes" ${value !== '' && 'checked'} ${need}>${label}</div>`;
  }
  return html`<div class="field">${label}${control()}</div>`;

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
