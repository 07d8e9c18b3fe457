/** The keys that a question names last, in the same words everywhere. */
export const keysText = (own: string, canGoBack: boolean): string =>
  [own, ...(canGoBack ? ['Esc back'] : []), 'Ctrl-C quit'].join(' · ');
