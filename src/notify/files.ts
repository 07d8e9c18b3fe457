import { closeSync, existsSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { instant } from '../kernel/clock.ts';
import { makeFolder, onFile, writeWhole } from '../kernel/storage.ts';
import type { Delivery, PageMessage } from './message.ts';

/**
 * Appends a page as one line of JSON. A repeated try first looks whether its line is there: the process may have died
 * between the line and the mark.
 */
export function appendPage(path: string, message: PageMessage, delivery: Delivery): void {
  const line = JSON.stringify({
    id: delivery.id,
    at: instant(delivery.createdAtMs),
    event: message.event,
    text: message.text,
    fields: message.fields,
  });
  onFile(path, () => {
    makeFolder(dirname(path));
    if (delivery.attempt > 1 && existsSync(path) && readFileSync(path, 'utf8').includes(`${line}\n`)) return;
    const file = openSync(path, 'a', 0o600);
    try {
      writeSync(file, `${line}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  });
}

/** Writes a mail to a file of its own, whole or not at all, readable by its owner alone. Again is the same file. */
export function writeMail(folder: string, messageId: string, raw: Buffer): void {
  writeWhole(mailPath(folder, messageId), raw);
}

export const removeMail = (folder: string, messageId: string): void =>
  rmSync(mailPath(folder, messageId), { force: true });

const mailPath = (folder: string, messageId: string): string => join(folder, `${messageId}.eml`);
