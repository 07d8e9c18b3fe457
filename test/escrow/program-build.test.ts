import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { murmur3, verifyCode } from '../../program/link.mjs';
import { escrowElf } from '../../src/escrow/elf.ts';
import { isHere } from '../needs.mjs';
import { ESCROW_REFUSALS } from './refusals.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const source = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const hasClang = isHere('clang-19', spawnSync('clang-19', ['--version']).status === 0);

test.skipIf(!hasClang)('the committed program is what its source builds, byte for byte', () => {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-build-'));
  try {
    // Another directory, another language, another time: none of it may show in the bytes.
    const built = spawnSync(join(ROOT, 'program/build.sh'), [folder], {
      cwd: folder,
      env: { ...process.env, LC_ALL: 'C', TZ: 'Asia/Tokyo' },
      encoding: 'utf8',
    });
    expect([built.status, built.stderr]).toEqual([0, '']);
    expect(readFileSync(join(folder, 'escrow.so')).equals(readFileSync(join(ROOT, 'program/escrow.so')))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the program is found from a checkout and from a bundle', () => {
  const elf = escrowElf();
  for (const from of ['dist/main.mjs', 'dist/chunks/service.mjs', 'src/escrow/elf.ts'])
    expect(escrowElf(`file://${ROOT}/${from}`)).toEqual(elf);
  expect([...elf.slice(0, 4)]).toEqual([0x7f, 0x45, 0x4c, 0x46]);
  expect(() => escrowElf('file:///nowhere/at/all/elf.mjs')).toThrow('program/escrow.so');
});

test('the built program has the form that clusters let anybody deploy: SBPF version 3, nothing to relocate', () => {
  const elf = Buffer.from(escrowElf());
  const segments = [64, 120].map((at) => ({
    type: elf.readUInt32LE(at),
    flags: elf.readUInt32LE(at + 4),
    offset: Number(elf.readBigUInt64LE(at + 8)),
    address: elf.readBigUInt64LE(at + 16),
    size: Number(elf.readBigUInt64LE(at + 32)),
  }));
  const [constants, code] = segments;
  if (!constants || !code) throw new Error('two segments');
  expect({ version: elf.readUInt32LE(48), segments: elf.readUInt16LE(56), sections: elf.readUInt16LE(60) }).toEqual({
    version: 3,
    segments: 2,
    sections: 0,
  });
  expect(constants).toMatchObject({ type: 1, flags: 4, offset: 176, address: 0n });
  expect(code).toMatchObject({ type: 1, flags: 1, offset: 176 + constants.size, address: 0x1_0000_0000n });
  expect(code.offset + code.size).toBe(elf.length);
  expect([constants.size % 8, code.size % 8]).toEqual([0, 0]);
});

describe('code that a loader takes and that fails when it is called', () => {
  const call = (from: number, to: number) => [0x85, from << 4, 0, 0, ...int32(to)];
  const int32 = (value: number) => [0, 8, 16, 24].map((shift) => (value >> shift) & 0xff);
  const [EXIT, NOTHING] = [
    [0x95, 0, 0, 0, 0, 0, 0, 0],
    [0xbf, 0, 0, 0, 0, 0, 0, 0],
  ] as const;
  const jump = (by: number) => [0x15, 0, by & 0xff, (by >> 8) & 0xff, 0, 0, 0, 0];
  const LOAD = [0x18, 0, 0, 0, 1, 0, 0, 0, ...Array(8).fill(0)];
  const verified = (...code: readonly (readonly number[])[]) => verifyCode(Buffer.from(code.flat()), new Set([0, 2]));

  test('is refused by the linker', () => {
    const wrong = (...code: readonly (readonly number[])[]) => expect(() => verified(...code));
    wrong(call(0, 0x1234), EXIT).toThrow('instruction 0 calls an unknown system call');
    wrong(call(0, murmur3('sol_memcpy')), EXIT).toThrow('unknown system call');
    wrong(call(1, 5), EXIT).toThrow('instruction 0 calls what is not a function');
    wrong(call(1, -3), EXIT).toThrow('not a function');
    wrong(call(1, 0), EXIT).toThrow('not a function');
    wrong([0x8d, 0, 0, 0, 1, 0, 0, 0], EXIT).toThrow('instruction 0 calls an address that is computed');
    wrong(jump(1), EXIT).toThrow('instruction 0 jumps out of the code');
    wrong(jump(-2), EXIT).toThrow('jumps out of the code');
    wrong(jump(1), LOAD, EXIT).toThrow('instruction 0 jumps out of the code');
    wrong(EXIT, LOAD.slice(0, 8)).toThrow('instruction 1 is cut');
    wrong(EXIT, NOTHING).toThrow('the last instruction runs on');
    wrong(EXIT, jump(-1)).toThrow('the last instruction runs on');
  });

  test('is none where calls and jumps lead to instructions', () => {
    verified(call(0, murmur3('sol_memcpy_') | 0), call(1, 0), EXIT, jump(-1), LOAD, [0x05, 0, 0xfb, 0xff, 0, 0, 0, 0]);
    const elf = Buffer.from(escrowElf());
    const constants = Number(elf.readBigUInt64LE(64 + 32));
    const code = Buffer.from(elf.subarray(176 + constants));
    verifyCode(code);
    // Each of its calls and jumps is looked at: one that leads far away is found wherever it is.
    const leading = Array.from({ length: code.length / 8 }, (_, slot) => slot * 8).filter((at) => code[at] === 0x85);
    expect(leading.length).toBeGreaterThan(20);
    for (const at of leading) {
      const broken = Buffer.from(code);
      broken.writeInt32LE(1_000_000, at + 4);
      expect(() => verifyCode(broken), String(at)).toThrow(/calls/);
    }
  });
});

test('the built program names no place and no person', () => {
  const text = Buffer.from(escrowElf()).toString('latin1');
  expect(text).not.toMatch(/\/(home|root|tmp|usr|var)\/|clang|GCC|\.c\b/);
});

test('the program, the client and the page agree on every refusal', () => {
  const inProgram = [...source('program/errors.h').matchAll(/X\((\w+), (\d+)\)/g)];
  const expected = inProgram.map(([, name, code]) => [Number(code), name?.toLowerCase()]);
  expect(Object.entries(ESCROW_REFUSALS).map(([code, [name]]) => [Number(code), name])).toEqual(expected);
  const onPage = [...source('docs/escrow.md').matchAll(/^\| (\d{3}) +\| `(\w+)` +\| (.+?) +\|$/gm)];
  expect(onPage.map(([, code, name, sentence]) => [Number(code), name, sentence])).toEqual(
    Object.entries(ESCROW_REFUSALS).map(([code, [name, sentence]]) => [Number(code), name, sentence]),
  );
});
