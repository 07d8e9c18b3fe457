import { readJsonOf, writeWhole } from '../../kernel/storage.ts';

/** A file of conveniences in the home, such as the numbers of the last list. No result depends on it. */
export function openNotebook<T extends object>(path: string, warn: (text: string) => void) {
  let hasWarned = false;
  const failed = (what: string, error: unknown) => {
    if (!hasWarned) warn(`${path} could not be ${what}: ${error instanceof Error ? error.message : String(error)}`);
    hasWarned = true;
  };
  return {
    /** Null for a missing or unreadable file. */
    read(): Partial<T> | null {
      try {
        const content = readJsonOf(path);
        return typeof content === 'object' && content !== null ? (content as Partial<T>) : null;
      } catch (error) {
        failed('read', error);
        return null;
      }
    },
    /** Replaces the file whole. If that fails, warns and returns false. */
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

/** The page of a place: of a terminal with its shell, or of a parent process. */
interface Page {
  readonly from: string;
}

/** Most pages kept of terminals and of other places: a script that runs every minute drops no page of a terminal. */
const MOST_TERMINALS = 6;
const MOST_OTHERS = 6;

const isSome = (page: object): boolean => Object.keys(page).length > 0;

/** A notebook with a page for each place, the newest first. */
export function openPages<T extends object>(path: string, warn: (text: string) => void, place = '') {
  const file = openNotebook<T & Page & { readonly others: readonly (T & Page)[] }>(path, warn);
  const pages = (): (Partial<T> & Page)[] => {
    const { others = [], ...newest } = file.read() ?? {};
    // Files of earlier versions name no place.
    return [{ from: '', ...newest } as Partial<T> & Page, ...others];
  };
  return {
    /** The page of this place; null if nothing was shown here. */
    own: (): Partial<T> | null => pages().find(({ from, ...page }) => from === place && isSome(page)) ?? null,
    /** Finds a page that has something: this place's own, or else the newest. */
    find: (has: (page: Partial<T>) => boolean): Partial<T> | null =>
      pages()
        .toSorted((a, b) => Number(b.from === place) - Number(a.from === place))
        .find(has) ?? null,
    /** True if another place was shown something. */
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
