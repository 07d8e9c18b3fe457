import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { onFile } from '../../../kernel/storage.ts';
import type { PageEvidence } from '../../../wire/flights/index.ts';
import type { ShownEvidence } from '../../view/evidence.ts';

/** Writes screenshots and texts into a folder, for this user alone; without one, nothing. @throws Problem of storage */
export function keptEvidence(found: readonly PageEvidence[], folder: string | null): ShownEvidence[] {
  const place = folder === null ? null : resolve(folder);
  if (place !== null) onFile(place, () => mkdirSync(place, { recursive: true, mode: 0o700 }));
  const write = (name: string, content: string | Buffer | null): string | null => {
    if (place === null || content === null) return null;
    const path = join(place, name);
    onFile(path, () => writeFileSync(path, content, { mode: 0o600 }));
    return path;
  };
  return found.map(({ screenshot, ...one }) => {
    // Names of files come from elsewhere: they lead nowhere but into the folder.
    const name = one.evidence_id.replace(/[^0-9a-z]/gi, '');
    return {
      ...one,
      screenshot_file: write(`${name}.png`, screenshot && Buffer.from(screenshot, 'base64')),
      text_file: write(`${name}.txt`, one.text),
    };
  });
}
