// The last step of the build: compiles what the commands of a journey run, and keeps it beside the chunks, so that
// already the first command of a user starts from compiled code (bin/load.js). A journey that fails here fails the build.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const home = mkdtempSync(join(tmpdir(), 'farelock-build-'));
const env = {
  PATH: process.env.PATH,
  FARELOCK_HOME: home,
  FARELOCK_TICKETING_MS: '0',
  FARELOCK_CODE_CACHE: 'renew',
  NO_COLOR: '1',
};
const farelock = (args, input) =>
  execFileSync(process.execPath, [resolve(import.meta.dirname, '../bin/farelock.js'), ...args], {
    env,
    input,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
  });

const passenger = {
  given_name: 'Ana',
  family_name: 'Moreira',
  born_on: '1990-04-12',
  title: 'ms',
  gender: 'f',
  email: 'ana@example.com',
  phone_number: '+351912345678',
};

try {
  farelock(['--help']);
  const search = farelock(['search', 'LIS', 'BER', '--depart', '+30d', '--json', '--no-wait', '--sort', 'price']);
  // On any day some fare is sold in USD, if not the cheapest one of an itinerary.
  const offer = JSON.parse(search)
    .offers.flatMap((one) => [one, ...(one.fare_options ?? [])])
    .find((one) => one.total_currency === 'USD');
  const intent = JSON.parse(farelock(['intent', 'create', offer.offer_id, '--json']));
  const book = ['book', intent.intent_id, '--passengers', '-', '--yes', '--max-payment', '100000'];
  farelock([...book, '--no-wait', '--json'], JSON.stringify([passenger]));
  farelock(['status', intent.intent_id]);
  farelock(['status', intent.intent_id, '--json']);
} finally {
  rmSync(home, { recursive: true, force: true });
}
