import { fieldLines } from '../../../terminal/table.ts';
import type { Command } from '../../spec/command.ts';
import { nextLines } from '../../view/payment.ts';
import { printPlan } from '../../view/plan.ts';

/** Makes a keypair file; an existing one is never written over. */
export const walletNew: Command<object> = async ({ terminal, session, globals }) => {
  if (globals.dryRun) {
    printPlan(terminal, [`Create a keypair file at ${session.keypairFile} (mode 0600).`]);
    return 0;
  }
  const { createKeypairFile } = await import('../../../solana/keypair.ts');
  const wallet = createKeypairFile(session.keypairFile);
  terminal.result(
    { address: wallet.address, keypair_file: session.keypairFile, created: true },
    {
      lines: (made, { paint }) =>
        fieldLines(
          [
            ['Address', paint.bold(made.address)],
            ['File', `${made.keypair_file} (only you can read it; back it up)`],
          ],
          paint.dim,
        ),
    },
  );
  terminal.aside(['', ...nextLines('farelock wallet balance')]);
  return 0;
};
