import { createOperatorClient, type OperatorClient } from '../../client/operator.ts';
import type { Fetch } from '../../kernel/http.ts';
import { problem } from '../../kernel/problems.ts';
import type { Environment } from '../spec/globals.ts';
import { readKeyFile, readOwnKeyFile } from './key-file.ts';

/**
 * The operator API with a key that never stands in argv: FARELOCK_OPERATOR_KEY, the profile's file, or the embedded
 * stack's own.
 * @throws Problem `no_operator_key`, `key_file_unreadable`
 */
export async function openOperator(given: {
  readonly environment: Environment;
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly timeoutMs: number | undefined;
  readonly profileKeyFile: string | null;
  readonly keyFile: (() => Promise<string>) | null;
}): Promise<OperatorClient> {
  const { environment, profileKeyFile, keyFile, ...ports } = given;
  const key =
    environment.FARELOCK_OPERATOR_KEY?.trim() ||
    (profileKeyFile !== null && readKeyFile(profileKeyFile)) ||
    (keyFile ? readOwnKeyFile(await keyFile()) : null);
  if (!key) throw problem('no_operator_key');
  return createOperatorClient({ ...ports, key });
}
