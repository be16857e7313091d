import { createHash } from 'node:crypto';
import type { KeptProduct } from '../state/kinds.js';

type Fields = Partial<KeptProduct> & Pick<KeptProduct, 'title' | 'description' | 'price'>;

/** The products of the seeded shop, by the names that its orders use. */
export const CATALOGUE = {
  rain: {
    title: 'Rain on Tin: field recordings',
    description:
      'Two hours of rain on the roof of a boat house, from the first drops to the storm.\n\n48 stereo recordings, 24 bit, 96 kHz. Free to use in any production.',
    price: '14.00',
    ...file('rain-on-tin.zip', 'application/zip', 2_147_000_000),
  },
  piano: {
    title: 'Tape Piano: sample library',
    description:
      'An upright from 1931, recorded to worn tape. For every sampler that reads SFZ.\n\nA limited edition: each copy has a number.',
    price: '32.00',
    ...file('tape-piano.zip', 'application/zip', 911_000_000),
    stock_amount: 26,
    maximum_quantity: 1,
  },
  reverb: {
    title: 'Halden Reverb: licence key',
    description:
      'The rooms of a **fortress**, as a plug-in. One key for three computers.\n\n## What is in it\n\n- 24 rooms, from the cell to the *great hall*\n- for Windows, macOS and Linux\n- a [manual](https://halden.example/manual)',
    price: '39.00',
    ...serials('HREV', 12),
    maximum_quantity: 3,
    crypto_confirmations: 2,
    warranty: 'A key that does not work is replaced, or you get your money back.',
    warranty_duration: 30 * 86_400,
  },
  delay: {
    title: 'Halden Delay: licence key',
    description: 'Echoes between two cliffs, as a plug-in. One key for three computers.',
    price: '29.00',
    ...serials('HDEL', 4),
    vpn_block: true,
  },
  synth: {
    title: 'Moss Synth: licence key',
    description: 'A synthesizer that grows slowly. The first edition, of which there are few.',
    price: '49.00',
    ...serials('MOSS', 3),
  },
  voucher: {
    title: 'Voucher for a guitar lesson',
    description: 'An hour with one of our teachers, by video. The voucher holds for a year.',
    price: '25.00',
    ...serials('LESSON', 40),
    hide_stock: true,
    custom: [
      { type: 'text', name: 'Name on the voucher', required: true },
      { type: 'country_dropdown', name: 'Time zone of which country', required: false },
    ],
  },
  pass: {
    title: 'Session pass: one month',
    description: 'All of our live sessions for a month. Your personal address comes at once.',
    price: '12.00',
    product_type: 'dynamic',
    seller_note:
      'Set dynamic_url to the address that makes your goods. The provider calls it for each order.',
  },
  mixing: {
    title: 'Feedback on your mix',
    description: 'We listen to your mix, and write you two pages about it within a week.',
    price: '60.00',
    product_type: 'service',
    maximum_quantity: 1,
    customer_details_required: true,
    custom: [
      { type: 'textarea', name: 'What should we listen for?', required: true },
      { type: 'number', name: 'Tempo', required: false },
      { type: 'checkbox', name: 'Publish the feedback', required: false },
      { type: 'hidden', name: 'campaign', required: false },
    ],
  },
  beta: {
    title: 'Moss Synth 2: beta',
    description: 'For those who have the address. Please tell us what breaks.',
    price: '5.00',
    ...file('moss-synth-2-beta.zip', 'application/zip', 48_000_000),
    unlisted: true,
  },
  studio: {
    title: 'Studio licence for Halden',
    description: 'Both plug-ins for a whole studio, by agreement.',
    price: '450.00',
    product_type: 'service',
    private: true,
  },
} as const satisfies Readonly<Record<string, Fields>>;

/** The name of a product in the {@link CATALOGUE}. */
export type Item = keyof typeof CATALOGUE;

/** The categories of the seeded shop, in reverse order of display. */
export const CATEGORIES: readonly { readonly title: string; readonly items: readonly Item[] }[] = [
  { title: 'Lessons and sessions', items: ['voucher', 'pass', 'mixing'] },
  { title: 'Recordings and samples', items: ['rain', 'piano'] },
  { title: 'Plug-ins', items: ['reverb', 'delay', 'synth', 'beta'] },
];

/** Returns an id that depends only on the name, so that the addresses of the shop stay the same. */
export function idOf(prefix: string, name: string): string {
  return `${prefix}_${digest(name).slice(0, 20)}`;
}

function digest(text: string): string {
  return createHash('sha256').update(`seeded ${text}`).digest('hex');
}

function serials(prefix: string, count: number) {
  const keys = Array.from({ length: count }, (_, index) => {
    const parts = digest(`${prefix} ${index}`).toUpperCase().match(/.{4}/g) ?? [];
    return [prefix, ...parts.slice(0, 3)].join('-');
  });
  return { product_type: 'serials', info: keys.join(',') } as const;
}

function file(filename: string, mime_type: string, size: number) {
  return {
    product_type: 'file',
    file: {
      id: idOf('fil', filename),
      storage: 'sandbox',
      url: `https://files.example/${filename}`,
      metadata: { size, filename, mime_type },
    },
  } as const;
}
