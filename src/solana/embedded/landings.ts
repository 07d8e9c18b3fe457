import { isProblem } from '../../kernel/problems.ts';
import type { LedgerFile } from './ledger-file.ts';
import type { LandedTransaction } from './ledger-transactions.ts';

interface Waiting {
  land(): LandedTransaction;
  resolve(landed: LandedTransaction): void;
  reject(error: unknown): void;
}

/**
 * Lands the transactions that were sent at the same moment in one write, one after the other: they wait for the disk
 * once, and nobody is told of anything before it. One that is refused leaves nothing, and refuses no other.
 */
export function createLandings(file: Pick<LedgerFile, 'write' | 'disk'>) {
  let waiting: Waiting[] = [];

  function landAll(): void {
    const due = waiting;
    waiting = [];
    const landed: { tell(): void; reject(error: unknown): void }[] = [];
    try {
      file.write(() => {
        for (const one of due) {
          try {
            const result = one.land();
            landed.push({ tell: () => one.resolve(result), reject: one.reject });
          } catch (error) {
            // It is refused before anything of it is written. Any other error is the file's.
            if (!isProblem(error, 'transaction_failed')) throw error;
            one.reject(error);
          }
        }
      });
    } catch (error) {
      for (const { reject } of due) reject(error);
      return;
    }
    file.disk.sync().then(
      () => {
        for (const { tell } of landed) tell();
      },
      (error) => {
        for (const { reject } of landed) reject(error);
      },
    );
  }

  return {
    add: (land: Waiting['land']): Promise<LandedTransaction> =>
      new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(landAll);
        waiting.push({ land, resolve, reject });
      }),
  };
}
