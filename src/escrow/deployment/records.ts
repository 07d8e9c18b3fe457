import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Address, isAddress } from '@solana/kit';
import * as z from 'zod';
import { damaged, onFile, readJsonOf, writeOnce, writeWhole } from '../../kernel/storage.ts';

const address = z.custom<Address>((value) => typeof value === 'string' && isAddress(value));
const seed = z.hex().length(64);

const form = z.strictObject({
  form: z.literal(1),
  state: z.enum(['open', 'done', 'aborted']),
  kind: z.enum(['deploy', 'upgrade']),
  /** CAIP-2 name, for a person. */
  network: z.string(),
  program: address,
  /** The seed of a new program; null for an upgrade. */
  program_seed: seed.nullable(),
  buffer: address,
  buffer_seed: seed,
  payer: address,
  sha256: z.hex().length(64),
  micro_lamports: z.string().regex(/^\d+$/),
  final: z.boolean(),
  /** Until this block height the transaction that makes the buffer may land; null before it is sent. */
  buffer_until: z.string().regex(/^\d+$/).nullable(),
  begun_at: z.iso.datetime(),
});

/** A home's record of one deployment. Its keys are on the disk before anything that needs them is sent. */
export type DeploymentRecord = z.output<typeof form>;

export type DeploymentRecords = ReturnType<typeof openRecords>;

/** The deployments of a home on one cluster, each in a private file. @param cluster letters and digits */
export function openRecords(folder: string, cluster: string) {
  const open = join(folder, `${cluster}.json`);
  const endedPath = ({ buffer }: DeploymentRecord) => join(folder, `${cluster}-${buffer}.json`);
  const read = (path: string): DeploymentRecord | null => {
    const json = readJsonOf(path);
    if (json === null) return null;
    const record = form.safeParse(json);
    if (!record.success) throw damaged(path, 'it is not the record of a deployment');
    return record.data;
  };
  const text = (record: DeploymentRecord) => `${JSON.stringify(record, null, 2)}\n`;
  return {
    /** The deployment that was begun and not ended. @throws Problem `storage_damaged` */
    current: () => read(open),
    ended(): DeploymentRecord[] {
      if (!existsSync(folder)) return [];
      const names = readdirSync(folder).filter((name) => name.startsWith(`${cluster}-`) && name.endsWith('.json'));
      return names
        .flatMap((name) => read(join(folder, name)) ?? [])
        .sort((one, other) => (one.begun_at < other.begun_at ? 1 : -1));
    },
    /** Returns the record of the process that began first: the others go on with it. */
    begin: (record: DeploymentRecord) => (writeOnce(open, text(record)) ? record : (read(open) ?? record)),
    update: (record: DeploymentRecord) => writeWhole(open, text(record)),
    end(record: DeploymentRecord, state: 'done' | 'aborted') {
      writeWhole(endedPath(record), text({ ...record, state }));
      onFile(open, () => rmSync(open, { force: true }));
    },
  };
}
