import { readJsonOf, writeWhole } from '../../kernel/storage.ts';

/** A file of conveniences in the home, such as the numbers of the last list. No result waits for it, or fails with it. */
export function openNotebook<T extends object>(path: string, warn: (text: string) => void) {
  let hasWarned = false;
  const failed = (what: string, error: unknown) => {
    if (!hasWarned) warn(`${path} could not be ${what}: ${error instanceof Error ? error.message : String(error)}`);
    hasWarned = true;
  };
  return {
    /** null for a missing or unreadable file. */
    read(): Partial<T> | null {
      try {
        const content = readJsonOf(path);
        return typeof content === 'object' && content !== null ? (content as Partial<T>) : null;
      } catch (error) {
        failed('read', error);
        return null;
      }
    },
    /** Replaces it whole. false: it could not be written, and a warning says so. */
    write(content: T): boolean {
      try {
        writeWhole(path, JSON.stringify(content), { mayBeLost: true });
        return true;
      } catch (error) {
        failed('written', error);
        return false;
      }
    },
  };
}

/** The last list of a place: a terminal with its shell, or a parent process. */
interface Page {
  readonly from: string;
}

/** The places whose pages are kept: a script that runs every minute takes none from a terminal. */
const MOST_TERMINALS = 6;
const MOST_OTHERS = 6;

const isSome = (page: object): boolean => Object.keys(page).length > 0;

/** A notebook with a page for each place, the newest first. */
export function openPages<T extends object>(path: string, warn: (text: string) => void, place = '') {
  const file = openNotebook<T & Page & { readonly others: readonly (T & Page)[] }>(path, warn);
  const pages = (): (Partial<T> & Page)[] => {
    const { others = [], ...newest } = file.read() ?? {};
    // A file of an earlier version names no place.
    return [{ from: '', ...newest } as Partial<T> & Page, ...others];
  };
  return {
    /** The page of this place; null where it was shown nothing. */
    own: (): Partial<T> | null => pages().find(({ from, ...page }) => from === place && isSome(page)) ?? null,
    /** This place's page, or else the newest one, that has something. */
    find: (has: (page: Partial<T>) => boolean): Partial<T> | null =>
      pages()
        .toSorted((a, b) => Number(b.from === place) - Number(a.from === place))
        .find(has) ?? null,
    /** True when another place was shown something, whatever this one was. */
    hasOthers: (): boolean => pages().some(({ from, ...page }) => from !== place && isSome(page)),
    write(page: T): boolean {
      const others = pages().filter(({ from, ...kept }) => from !== place && isSome(kept));
      const isTerminal = ({ from }: Page) => from.startsWith('tty');
      return file.write({
        ...page,
        from: place,
        others: [
          ...others.filter(isTerminal).slice(0, MOST_TERMINALS),
          ...others.filter((one) => !isTerminal(one)).slice(0, MOST_OTHERS),
        ] as (T & Page)[],
      });
    },
  };
}
