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
