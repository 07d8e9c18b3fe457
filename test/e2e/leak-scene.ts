import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect } from 'vitest';
import { KEYS, type Screen } from '../pty/terminal.ts';
import { BIN, type Ran, type Runner } from './farelock.ts';
import { type Place, type Planted, plantedKey, plantedText } from './leak-search.ts';

/** Who flies in the search for leaks at the desks, with an agent and on a terminal, and what they do. */

export const FLYER = {
  given_name: 'Quorinda',
  family_name: 'Vexmarrow',
  born_on: '1984-11-02',
  title: 'ms',
  gender: 'f',
  email: 'qv.canary.mail@example.com',
  phone_number: '+351961222333',
};
export const DOCUMENTS = { nationality: 'PT', passport_number: 'QV5530917', passport_expiry: '2034-05-21' };
/** Runs a command with --verbose, keeps what it prints, and holds its exit code. */
export function recorder(runner: Runner, places: Place[]) {
  return async (
    args: readonly string[],
    more: { input?: string; env?: Record<string, string>; ends?: number } = {},
  ): Promise<Ran> => {
    const ran = await runner.run([...args, '--verbose'], more);
    const name = args.slice(0, 3).join(' ');
    places.push({ name: `stdout of ${name}`, bytes: Buffer.from(ran.stdout) });
    places.push({ name: `stderr of ${name}`, bytes: Buffer.from(ran.stderr) });
    expect(ran.exitCode, `${name}\n${ran.stdout}${ran.stderr}`).toBe(more.ends ?? 0);
    return ran;
  };
}

export const keysIn = (home: string): Planted[] =>
  readdirSync(join(home, 'keys')).flatMap((file) => {
    const text = readFileSync(join(home, 'keys', file), 'utf8').trim();
    if (/^\[[\d,\s]+\]$/.test(text)) return [plantedKey(`keys/${file}`, Buffer.from(JSON.parse(text) as number[]))];
    return /\.(key|webhook)$/.test(file) ? [plantedText(`keys/${file}`, text)] : [];
  });
export const walletOf = (home: string): Planted =>
  plantedKey('wallet.json', Buffer.from(JSON.parse(readFileSync(join(home, 'wallet.json'), 'utf8')) as number[]));

export interface Offer {
  readonly offer_id: string;
  readonly total_currency: string;
  readonly total_amount_decimal: string;
}
export const cheap = (offers: readonly Offer[], isLowcost: boolean): string =>
  offers.find(
    (one) =>
      one.total_currency === 'USD' &&
      Number(one.total_amount_decimal) < 900 &&
      one.offer_id.startsWith('lowcost:') === isLowcost,
  )?.offer_id ?? '';

/** An agent that searches, books and asks for what it may not have: everything that the server writes. */
export async function agent(runner: Runner, offers: readonly Offer[]): Promise<Place> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, 'mcp', '--tools', 'all', '--allow-spending', '2000', '--allow-changes', '--verbose'],
    env: { ...runner.env, PATH: process.env.PATH ?? '' },
    stderr: 'pipe',
  });
  const printed: Buffer[] = [];
  transport.stderr?.on('data', (chunk: Buffer) => printed.push(chunk));
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const answer = await client.callTool({ name, arguments: given });
    printed.push(Buffer.from(JSON.stringify(answer)));
    return (answer.structuredContent ?? {}) as Record<string, unknown>;
  };
  await client.connect(transport);
  await client.listTools();
  const intent = await call('intent_create', { offer_id: cheap(offers, false) });
  const remembered = { intent_id: intent.intent_id };
  await call('book', { ...remembered, passengers: [{ ...FLYER, ...DOCUMENTS, title: 'sir' }] });
  await call('book', { ...remembered, traveller: [FLYER.given_name.slice(0, 4)] });
  const booked = await call('book', { ...remembered, passengers: [FLYER] });
  expect(booked).toMatchObject({ status: 'booked' });
  for (const name of ['status', 'intent_show']) await call(name, remembered);
  await call('order', { id: intent.intent_id });
  await call('refund_request', { ...remembered, reason: 'Illness' });
  await call('payments_list');
  await call('keys_issue', { name: 'x' });
  await client.close();
  return { name: 'mcp', bytes: Buffer.concat(printed) };
}

/** From the first question to the ticket, with a traveller who is saved. */
export async function walk(screen: Screen): Promise<void> {
  const answer = async (question: RegExp, typed: string) => {
    await screen.shows(question);
    screen.type(`${typed}${KEYS.enter}`);
  };
  await answer(/From: a city/, 'lisbon');
  await answer(/To: a city/, 'ber');
  await answer(/Depart, such as/, '+30d');
  await answer(/Return: a date/, '');
  await answer(/Travellers, 1 to 9/, '');
  await answer(/Search LIS → BER\?/, '');
  const list = (await screen.shows(/Which flight\?[\s\S]*❯[\s\S]*Lorelei[\s\S]*Ctrl-C quit/)).split('\n');
  const lines = list.slice(list.findIndex((text) => text.includes('❯')));
  screen.type(KEYS.down.repeat(lines.findIndex((text) => text.includes('Lorelei'))));
  await answer(/❯.*Lorelei/, '');
  await answer(/Which fare\?/, '');
  await answer(/Lock this fare for 0\.10 USDC\?/, '');
  await answer(/Given names/, FLYER.given_name);
  await answer(/Family name/, FLYER.family_name);
  await answer(/Date of birth/, FLYER.born_on);
  await answer(/\. Title/, KEYS.down.repeat(2));
  await answer(/\. Gender/, '');
  await answer(/E-mail/, FLYER.email);
  await answer(/Phone/, FLYER.phone_number);
  await answer(/Save this traveller/, '');
  await answer(/Save as/, 'quo');
  await answer(/Pay [\d.,]+ USDC into the escrow and book\?/, '');
  await screen.shows(/Show the airline order\?/);
  screen.type(KEYS.ctrlC);
  expect(await screen.ended()).toBe(130);
}
