import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A file that only grows. What `write` has resolved for survives a power cut. */
interface DurableLog {
  write(line: object): Promise<void>;
  close(): Promise<void>;
}

/**
 * Lines that arrive while the disk is busy go out together with the next one: ten rows at once cost one wait, not ten.
 * The file is private, for it tells of a partner's orders.
 */
export async function openDurableLog(path: string): Promise<DurableLog> {
  const file = await open(path, constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY, 0o600);
  await syncFolder(dirname(path));
  let waiting: { text: string; done: () => void; failed: (error: unknown) => void }[] = [];
  let writing: Promise<void> | null = null;

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await file.appendFile(batch.map(({ text }) => text).join(''));
        await file.datasync();
        for (const { done } of batch) done();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    writing = null;
  }

  return {
    write: (line) =>
      new Promise((done, failed) => {
        waiting.push({ text: `${JSON.stringify(line)}\n`, done, failed });
        writing ??= flush();
      }),
    async close() {
      await writing;
      await file.close();
    },
  };
}

/** A file's name is only as durable as its folder. */
export async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | null = null;
  try {
    handle = await open(folder, constants.O_RDONLY);
    await handle.sync();
  } catch (error) {
    // Some systems can't open a folder; there the name is written with the file.
    if (!isRefusedFolder(error)) throw error;
  } finally {
    await handle?.close();
  }
}

const isRefusedFolder = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  ['EISDIR', 'EPERM', 'EACCES', 'EINVAL'].includes(String(error.code));
