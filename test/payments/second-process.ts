import { readFileSync } from 'node:fs';
import { openShop, openWorld, request } from './world.ts';

// Sends one payment, several times at once, from a process of its own: <home> <seed of the operator's keys> <file>.
const [home, seed, file] = process.argv.slice(2);
if (!home || !seed || !file) throw new Error('home, seed and file are missing');
const world = await openWorld({ home, seed });
const shop = openShop(world);
shop.perform = async (payment) => {
  await new Promise((resolve) => setTimeout(resolve, 100));
  return { status: 200, body: { process: process.pid, key: payment.key } };
};
const { payment, body } = JSON.parse(readFileSync(file, 'utf8')) as { payment: string; body: unknown };
const answers = await Promise.all(
  [1, 2, 3].map(async () => {
    const response = await shop.fetch(request('/search', body, payment));
    return `${response.status} ${await response.text()}`;
  }),
);
process.stdout.write(JSON.stringify({ answers, performed: shop.performed.length }));
await world.close();
