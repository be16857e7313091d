export { createGoods, type Goods } from './goods.js';
export type {
  Allow,
  GoodsCall,
  GoodsOptions,
  GoodsVerifyOptions,
  MadeGoods,
  MakeGoods,
  UnprovenCall,
} from './options.js';
export type { GoodsOrder } from './order.js';
export { hasToken } from './token.js';
