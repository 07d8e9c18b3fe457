import { afterAll, describe, expect, test } from 'vitest';
import { explorerOf } from '../../src/cli/paying/explorer.ts';
import { SOLANA_NETWORKS } from '../../src/solana/cluster.ts';
import { openPaint, plainPaint } from '../../src/terminal/paint.ts';
import { qrLines, solanaPayUrl } from '../../src/terminal/qr.ts';
import { textWidth, unpainted } from '../../src/terminal/text.ts';
import { runInMemory, temporaryHome } from './memory.ts';

/** QR codes and links to an explorer. */

const WALLET = 'FvUjgGAYkiwtMGFevH6LJQvApR86ntzBttdSgHHuNabk';

describe('a QR code', () => {
  const modulesOf = (lines: readonly string[], dark: boolean) =>
    lines.flatMap((line) => {
      const cells = [...unpainted(line)];
      const above = cells.map((cell) => (cell === '█' || cell === '▀') === dark);
      const below = cells.map((cell) => (cell === '█' || cell === '▄') === dark);
      return [above, below];
    });

  test('has a quiet zone of four modules and the same modules with and without colour', async () => {
    const plain = (await qrLines(WALLET, { paint: plainPaint, width: 80 })) ?? [];
    const coloured = (await qrLines(WALLET, { paint: await openPaint(1), width: 80 })) ?? [];
    const size = textWidth(plain[0] ?? '');
    expect(plain.every((line) => textWidth(line) === size)).toBe(true);
    expect(coloured.map(textWidth)).toEqual(plain.map(textWidth));
    const dark = modulesOf(coloured, true);
    expect(modulesOf(plain, false)).toEqual(dark);
    expect(dark.slice(0, 4).flat().includes(true)).toBe(false);
    expect(dark.every((row) => !row.slice(0, 4).includes(true) && !row.slice(-4).includes(true))).toBe(true);
    // The finder's corner: seven dark modules, then a light one.
    expect(dark[4]?.slice(4, 12)).toEqual([true, true, true, true, true, true, true, false]);
  });

  test('brings its own black and white where colour is allowed', async () => {
    const [line = ''] = (await qrLines(WALLET, { paint: await openPaint(1), width: 80 })) ?? [];
    expect(line.startsWith('\u001b[38;5;16;48;5;231m') && line.endsWith('\u001b[0m')).toBe(true);
  });

  test('is left out where the screen is too narrow', async () => {
    expect(await qrLines(`https://pay.example/${'x'.repeat(600)}`, { paint: plainPaint, width: 60 })).toBeNull();
  });

  test('a request to pay is a Solana Pay address', () => {
    expect(solanaPayUrl(WALLET, 'mint', '25.00')).toBe(
      `solana:${WALLET}?amount=25.00&spl-token=mint&label=Farelock%20wallet`,
    );
  });
});

describe('wallet show --qr', () => {
  const place = temporaryHome();
  const run = (line: string, terminal: boolean) =>
    runInMemory(line.split(' '), { terminal, environment: { FARELOCK_HOME: place.home } });
  afterAll(() => place.close());

  test('is drawn when asked for, on and off a terminal', async () => {
    expect((await run('wallet show --qr', true)).stdout).toMatch(/Address[\s\S]*█ ▄▄▄▄▄ █/);
    expect((await run('wallet show --qr', false)).stdout).toMatch(/█ ▄▄▄▄▄ █/);
    expect((await run('wallet show', true)).stdout).not.toMatch(/█/);
    const pay = (await run('wallet show --qr 25 --json', false)).json();
    expect(pay.pay_url).toBe(`solana:${pay.address}?amount=25.00&spl-token=${pay.usdc_mint}&label=Farelock%20wallet`);
  });
});

describe('links to an explorer', () => {
  const shown = { ...plainPaint, link: (text: string, url: string) => `${text} <${url}>` };
  const at = (isEmbedded: boolean, rpcUrl: string | null, network: string) =>
    explorerOf({ isEmbedded, rpcUrls: rpcUrl === null ? [] : [rpcUrl] })(shown, 'abc', 'tx', network, 'SIG');
  test('lead to the right cluster, and never from a cluster that no explorer knows', () => {
    const { mainnet, devnet, testnet } = SOLANA_NETWORKS;
    expect(at(false, 'https://rpc.example', mainnet)).toBe('abc <https://explorer.solana.com/tx/SIG>');
    expect(at(false, 'https://api.devnet.solana.com', devnet)).toMatch(/tx\/SIG\?cluster=devnet>/);
    expect(at(false, 'https://api.testnet.solana.com', testnet)).toMatch(/\?cluster=testnet>/);
    expect(at(true, null, devnet)).toBe('abc');
    expect(at(false, 'http://127.0.0.1:4020/rpc', devnet)).toBe('abc');
    expect(at(false, 'https://notsolana.com/', devnet)).toBe('abc');
  });
});
