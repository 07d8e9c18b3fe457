import type { RecipePart, Stop } from '../recipes/index.ts';

/** The recipe doesn't fit the page: nothing is guessed, the visit ends here. */
export class Misfit extends Error {
  override readonly name = 'Misfit';
  /**
   * @param step its place, such as `search 3 (fill "From")`
   * @param saw what there was instead; nothing personal
   */
  constructor(
    readonly part: RecipePart,
    readonly step: string,
    readonly saw: string,
  ) {
    super(`${step}: ${saw}`);
  }
}

/** The page ends the visit, for a reason that the recipe knows. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  constructor(readonly reason: Stop | { readonly rejected: readonly string[] }) {
    super(typeof reason === 'string' ? reason : 'form_rejected');
  }
}

/** The browser is gone, or its time is over. */
export class BrowserGone extends Error {
  override readonly name = 'BrowserGone';
}
