import { categoryChanges, newCategory } from '../../api/parameters.js';
import { withChanges } from '../state/records.js';
import { newId } from '../trade/ids.js';
import { check } from './form.js';
import { reading, type Service } from './operations.js';
import { wrongFields } from './wrong-fields.js';

/** The operations on categories, which group products (specification: Categories). */
export const categories: Service['categories'] = {
  ...reading(
    ({ categories }) => categories,
    (category) => category,
  ),

  create({ market, sent }) {
    const { account } = market;
    const { title, product_ids, unlisted = false } = check(newCategory, sent, wrongFields(market));
    const dates = account.clock.dates();
    const category = { id: newId('cat'), title, product_ids, unlisted, image: null, ...dates };
    return account.categories.put(category);
  },

  update({ market, id, sent }) {
    const { account } = market;
    const category = account.categories.get(id);
    if (!category) return undefined;
    const changes = check(categoryChanges, sent, wrongFields(market));
    return account.categories.put({
      ...withChanges(category, changes),
      updated_at: account.clock.timestamp(),
    });
  },

  delete: ({ market: { account }, id }) => account.categories.delete(id),
};
