/**
 * Effects that have been done, in the database in which they are done: the first statement of a handler's
 * own transaction. Whatever dies and whenever, the effect and its entry are there together, or not at all.
 */
export interface EffectLedger<Tx, Answer extends boolean | Promise<boolean>> {
  /**
   * Whether this effect is still to be done; `false` where it has been done before. Enters it, under the
   * key and the name of the handler.
   *
   * @param tx - The transaction in which the effect is done.
   * @param effect - The handler's event.
   */
  once(tx: Tx, effect: { readonly key: string; readonly handler: string }): Answer;
}
