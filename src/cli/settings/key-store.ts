import { join } from 'node:path';
import { problem } from '../../kernel/problems.ts';
import { writeWhole } from '../../kernel/storage.ts';
import type { Streams } from '../../terminal/streams.ts';

/** A secret is never a setting's value: it is kept in a private file, and the setting names the file. */
export const SECRET_NAMES = ['api_key', 'customer_token', 'operator_key'] as const;
export type SecretName = (typeof SECRET_NAMES)[number];

export const isSecretName = (name: string): name is SecretName => SECRET_NAMES.some((one) => one === name);

/**
 * Keeps a secret that standard input holds in a file of the home, mode 0600.
 * @returns the file's path
 * @throws Problem `usage` when it stands in argv, where other processes and the shell's history can read it
 */
export async function keepSecret(
  home: string,
  profile: string,
  name: SecretName,
  value: string,
  stdin: Streams['stdin'],
): Promise<string> {
  if (value !== '-') {
    throw problem('usage', {
      message: `${name} does not belong on the command line: others can read it there.`,
      fix: 'Give - and the key on standard input. Replace a key that you typed here.',
      next: [`farelock config set ${name} - < key.txt`],
    });
  }
  const secret = (await stdin.text()).trim();
  if (!/^[\x21-\x7e]{8,16000}$/.test(secret)) {
    throw problem('usage', {
      message: 'Standard input is not one line with a key.',
      fix: `Pipe it in: farelock config set ${name} - < key.txt`,
    });
  }
  const path = join(home, 'keys', `${profile}.${name.replaceAll('_', '-')}`);
  writeWhole(path, `${secret}\n`);
  return path;
}
