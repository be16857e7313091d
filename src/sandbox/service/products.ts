import * as z from 'zod/mini';
import { newProduct, productChanges } from '../../api/parameters.js';
import { PRODUCT_TYPES } from '../../schemas/product.js';
import type { KeptProduct } from '../state/kinds.js';
import { withChanges } from '../state/records.js';
import { newId } from '../trade/ids.js';
import type { Market } from '../trade/market.js';
import { toText, toUnits } from '../trade/money.js';
import { EMPTY_PRODUCT } from '../trade/products.js';
import { showProduct } from '../trade/to-json.js';
import { check, invalid, type Sent } from './form.js';
import { reading, type Service } from './operations.js';
import { webhookUrl, wrongFields } from './wrong-fields.js';

const olderOnly = { webhook_url: z.optional(z.nullable(webhookUrl)) };
const created = { newer: newProduct.newer, older: z.extend(newProduct.older, olderOnly) };
const changed = { newer: productChanges.newer, older: z.extend(productChanges.older, olderOnly) };
/** The schema of a deployment of the newer variant that requires only the title. */
const lenient = z.extend(z.partial(created.newer), { title: z.string() });

/** The operations on products (specification: Products). */
export const products: Service['products'] = {
  ...reading(
    ({ products }) => products,
    (product, { unknowns }) => showProduct(product, unknowns),
  ),

  create({ market, sent }) {
    const { account, unknowns } = market;
    const dates = account.clock.dates();
    const fields = readCreated(market, sent);
    const product = account.products.put({
      ...withChanges(EMPTY_PRODUCT, fields),
      id: newId('prd'),
      ...dates,
    });
    return showProduct(product, unknowns);
  },

  update({ market, id, sent }) {
    const { account, unknowns } = market;
    const product = account.products.get(id);
    if (!product) return undefined;
    const changes = readChanged(market, product, sent);
    const updated_at = account.clock.timestamp();
    const changed = { ...withChanges(product, changes), updated_at };
    return showProduct(account.products.put(changed), unknowns);
  },

  delete({ market: { account }, id }) {
    return account.transact(() => {
      for (const category of account.categories) {
        const product_ids = category.product_ids.filter((one) => one !== id);
        if (product_ids.length < category.product_ids.length) {
          const updated_at = account.clock.timestamp();
          account.categories.put({ ...category, product_ids, updated_at });
        }
      }
      return account.products.delete(id);
    });
  },
};

type KeptFields = {
  readonly [Field in keyof typeof EMPTY_PRODUCT]?: (typeof EMPTY_PRODUCT)[Field] | undefined;
};
type Fields = z.output<typeof changed.newer> | z.output<typeof changed.older>;

function readCreated(market: Market, sent: Sent): KeptFields {
  const { unknowns } = market;
  if (unknowns.variant === 'older')
    return toKept(check(created.older, hiding(unknowns, sent), wrongFields(market)));
  if (unknowns.newerProducts === 'lenient')
    return toKept(check(lenient, sent, wrongFields(market, EMPTY_PRODUCT)));
  return toKept(check(created.newer, sent, wrongFields(market)));
}

function readChanged(market: Market, product: KeptProduct, sent: Sent): KeptFields {
  const { unknowns } = market;
  if (unknowns.variant === 'older')
    return toKept(check(changed.older, hiding(unknowns, sent), wrongFields(market, product)));
  return toKept(check(changed.newer, sent, wrongFields(market, product)));
}

/** Removes the listing-hiding boolean that this deployment does not know. */
function hiding({ hidingField }: Market['unknowns'], { fields, isText }: Sent): Sent {
  const { private: isPrivate, unlisted, ...rest } = fields;
  if (hidingField === 'private') return { fields: { ...rest, private: isPrivate }, isText };
  if (hidingField === 'unlisted') return { fields: { ...rest, unlisted }, isText };
  return { fields, isText };
}

/** Converts the parameters of either variant to the stored fields. */
function toKept({ price, product_type, currency, ...fields }: Fields): KeptFields {
  return {
    ...fields,
    price: price === undefined ? undefined : toPrice(price),
    product_type: product_type === undefined ? undefined : toType(product_type),
    currency: currency?.toUpperCase(),
  };
}

function toPrice(price: number | string): string {
  const units = toUnits(price);
  if (units < 0n) throw invalid('price has to be at least 0');
  return toText(units);
}

function toType(type: string | number): KeptProduct['product_type'] {
  const found = PRODUCT_TYPES.find((one, index) => one === type || index + 1 === type);
  if (!found) throw invalid('product_type is unknown');
  return found;
}
