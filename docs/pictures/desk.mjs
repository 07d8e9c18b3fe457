import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { record, recordingOf } from './recording.mjs';
import { inFreshHome, TRAVELLER } from './sandbox.mjs';

const ENTER = '\r';
const DOWN = '\x1b[B';
const REASONS = [
  'I broke a leg and cannot fly.',
  'The conference was cancelled.',
  'I booked the wrong week.',
  'My visa was refused.',
  'Plans changed.',
];

/** The live desk of an operator: a note, a refund that is paid out, one that is declined. */
export const desk = () =>
  inFreshHome(async ({ folder, run, open }) => {
    writeFileSync(join(folder, 'passengers.json'), JSON.stringify([TRAVELLER]), { mode: 0o600 });
    run(['wallet', 'airdrop', '--usdc', '50000']);
    const search = ['search', 'LIS', 'BER', '--depart', '+30d', '--no-wait', '--all-fares', '--limit', '500'];
    const fares = run(search).offers.filter(
      (one) => one.total_currency === 'USD' && !one.offer_id.startsWith('lowcost:'),
    );
    const pays = fares.filter(
      ({ conditions }) => conditions?.refund_allowed && conditions.refund_penalty_amount !== null,
    );
    const keeps = fares.filter(({ conditions }) => conditions?.refund_allowed === false);
    for (const [at, { offer_id }] of [...pays.slice(0, 3), ...keeps.slice(0, 2)].entries()) {
      const { intent_id } = run(['intent', 'create', offer_id]);
      run(['book', intent_id, '--passengers', 'passengers.json', '--yes']);
      run(['refund', 'request', intent_id, '--reason', REASONS[at], '--yes']);
    }
    const terminal = open({ columns: 112, rows: 28 });
    const command = await terminal.start('farelock refund desk');
    const tape = record(terminal, command);
    tape.caption('What waits, and the case under the mark');
    await tape.shows(/1-5 of 5[\s\S]*I broke a leg/, 2500);
    tape.caption('n: note');
    tape.press('n');
    await tape.shows(/Note:/, 400);
    await tape.type('Doctor’s letter is here.');
    tape.press(ENTER);
    await tape.shows(/✓ .*note written/, 1500);
    tape.caption('a: approve');
    tape.press('a');
    await tape.shows(/Pay out [\d.,]+ USDC\?/, 3000);
    tape.press(ENTER);
    await tape.shows(/✓ .*paid out/, 2500);
    tape.caption('↓: the next one');
    for (const reason of REASONS.slice(2)) {
      tape.press(DOWN);
      await tape.shows(new RegExp(reason), 700);
    }
    tape.caption('x: reject');
    tape.press('x');
    await tape.shows(/Reject, and send this\?/, 3000);
    tape.press(ENTER);
    await tape.shows(/of 3[\s\S]*✓ /, 3000);
    command.kill();
    return recordingOf(
      terminal,
      tape.screens,
      'The live refund desk in a terminal: a note is written to a case, its refund is approved and paid out, and another one is declined after its mail was shown',
    );
  });
