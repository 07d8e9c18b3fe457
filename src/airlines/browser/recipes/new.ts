import begun from './new.json' with { type: 'json' };

/** The beginning of a recipe, with comments; its writer replaces the texts that begin with `FILL_IN`. */
export const newRecipe = ({ code, name, site: base }: Readonly<Record<'code' | 'name' | 'site', string>>) => ({
  ...begun,
  carrier: { code, name },
  site: { ...begun.site, base },
});
