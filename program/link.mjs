// Links one relocatable BPF object, as stock clang makes it, into the program file that Solana's loader takes: SBPF
// version 3, the only one that a cluster with SIMD-0500 lets anybody deploy. The output depends on the object's code
// and read-only data alone: no path, no time.
//
//     node link.mjs escrow.o escrow.so
//
// What the loader asks for (anza-xyz/sbpf, elf.rs): an ELF header with the version in e_flags, and two loaded
// segments one behind the other: read-only data, which the program sees from address 0, and code, from 2^32. There
// are no sections, symbols or relocations: a system call is a call with source register 0 and the Murmur3 hash of its
// name. A loader does not look at where calls and jumps lead: a wrong one deploys, and fails when it is called. So this
// file does.
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const SBPF_VERSION = 3;
const CODE_REGION = 0x1_0000_0000n;
const EM_BPF = 247;
const R_BPF_64_64 = 1;
const R_BPF_64_32 = 10;
const SHT = { PROGBITS: 1, SYMTAB: 2, RELA: 4, REL: 9 };
const SHF = { WRITE: 1, ALLOC: 2 };
const PF = { EXECUTE: 1, READ: 4 };
const STT_FUNC = 2;
const EHDR = 64;
const PHDR = 56;
const SHDR = 64;

const align = (value, to) => Math.ceil(value / to) * to;

function text(table, offset) {
  return table.toString('latin1', offset, table.indexOf(0, offset));
}

/** @param {Buffer} object */
export function readObject(object) {
  if (object.readUInt32BE(0) !== 0x7f454c46 || object[4] !== 2 || object[5] !== 1)
    throw new Error('not a little-endian ELF64 file');
  if (object.readUInt16LE(16) !== 1 || object.readUInt16LE(18) !== EM_BPF)
    throw new Error('not a relocatable BPF object');
  const tableAt = Number(object.readBigUInt64LE(40));
  const sections = Array.from({ length: object.readUInt16LE(60) }, (_, index) => {
    const at = tableAt + index * SHDR;
    const offset = Number(object.readBigUInt64LE(at + 24));
    const size = Number(object.readBigUInt64LE(at + 32));
    return {
      index,
      nameAt: object.readUInt32LE(at),
      type: object.readUInt32LE(at + 4),
      flags: Number(object.readBigUInt64LE(at + 8)),
      bytes: object.subarray(offset, offset + size),
      link: object.readUInt32LE(at + 40),
      info: object.readUInt32LE(at + 44),
      align: Math.max(1, Number(object.readBigUInt64LE(at + 48))),
    };
  });
  const names = sections[object.readUInt16LE(62)].bytes;
  for (const section of sections) section.name = text(names, section.nameAt);

  const symtab = sections.find((section) => section.type === SHT.SYMTAB);
  if (!symtab) throw new Error('no symbol table');
  const symbols = Array.from({ length: symtab.bytes.length / 24 }, (_, index) => ({
    name: text(sections[symtab.link].bytes, symtab.bytes.readUInt32LE(index * 24)),
    type: symtab.bytes[index * 24 + 4] & 0xf,
    section: symtab.bytes.readUInt16LE(index * 24 + 6),
    value: Number(symtab.bytes.readBigUInt64LE(index * 24 + 8)),
  }));
  return { sections, symbols };
}

/** The parts of the object that are loaded. Anything writable is refused: a program has no data segment. */
function loadedSections(sections) {
  const loaded = sections.filter((section) => section.flags & SHF.ALLOC && section.bytes.length > 0);
  for (const section of loaded) {
    const known = section.name === '.text' || section.name.startsWith('.rodata');
    if (!known || section.flags & SHF.WRITE || section.type !== SHT.PROGBITS)
      throw new Error(`section ${section.name} cannot be loaded`);
  }
  const code = loaded.filter((section) => section.name === '.text');
  if (code.length !== 1) throw new Error('exactly one .text is expected');
  return { code: code[0], constants: loaded.filter((section) => section.name.startsWith('.rodata')) };
}

/** Every `.rodata*` one after the other, each where its alignment wants it. */
function mergeConstants(constants) {
  const offsets = new Map();
  let length = 0;
  for (const section of constants) {
    length = align(length, section.align);
    offsets.set(section.index, length);
    length += section.bytes.length;
  }
  const bytes = Buffer.alloc(align(length, 8));
  for (const section of constants) section.bytes.copy(bytes, offsets.get(section.index));
  return { bytes, offsets };
}

/** Murmur3, 32 bits, seed 0: a system call's number is the hash of its name. */
export function murmur3(name) {
  const bytes = Buffer.from(name, 'latin1');
  const scramble = (word) => {
    const mixed = Math.imul(word, 0xcc9e2d51);
    return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
  };
  const whole = bytes.length - (bytes.length % 4);
  let hash = 0;
  for (let at = 0; at < whole; at += 4) {
    hash ^= scramble(bytes.readInt32LE(at));
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  if (whole < bytes.length) hash ^= scramble(bytes.readUIntLE(whole, bytes.length - whole));
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Writes addresses, internal calls and system calls into `code`. */
function relocate(code, { sections, symbols }, constants, codeIndex) {
  for (const table of sections.filter((section) => section.info === codeIndex)) {
    if (table.type === SHT.RELA) throw new Error('relocations with addends are not expected');
    if (table.type !== SHT.REL) continue;
    for (let at = 0; at < table.bytes.length; at += 16) {
      const offset = Number(table.bytes.readBigUInt64LE(at));
      const type = table.bytes.readUInt32LE(at + 8);
      const symbol = symbols[table.bytes.readUInt32LE(at + 12)];
      if (type === R_BPF_64_64) {
        const base = constants.offsets.get(symbol.section);
        if (base === undefined) throw new Error(`address of ${symbol.name}, which is not read-only data`);
        // The addend is in the code. Read-only data begins at address 0, so the upper half stays 0.
        code.writeUInt32LE(base + symbol.value + code.readUInt32LE(offset + 4), offset + 4);
        code.writeUInt32LE(0, offset + 12);
      } else if (type === R_BPF_64_32 && symbol.section === 0) {
        code[offset + 1] &= 0x0f; // Source register 0; clang writes 1, which is a call within the program.
        code.writeUInt32LE(murmur3(symbol.name), offset + 4);
      } else if (type === R_BPF_64_32 && symbol.section === codeIndex) {
        // Relative to the next instruction, in instructions. A section symbol has its addend in the code.
        const target = symbol.name === '' ? code.readInt32LE(offset + 4) + 1 : symbol.value / 8;
        code.writeInt32LE(target - (offset / 8 + 1), offset + 4);
      } else {
        throw new Error(`relocation ${type} against ${symbol.name} is not known`);
      }
    }
  }
}

/** The system calls that mainnet, devnet and testnet have had for long. */
const SYSTEM_CALLS = new Map(
  [
    ...['abort', 'sol_panic_', 'sol_log_', 'sol_log_64_', 'sol_log_compute_units_', 'sol_log_pubkey', 'sol_log_data'],
    ...['sol_memcpy_', 'sol_memmove_', 'sol_memcmp_', 'sol_memset_', 'sol_sha256', 'sol_keccak256'],
    ...['sol_create_program_address', 'sol_try_find_program_address', 'sol_invoke_signed_c'],
    ...['sol_get_clock_sysvar', 'sol_get_rent_sysvar', 'sol_get_epoch_schedule_sysvar'],
    ...['sol_set_return_data', 'sol_get_return_data', 'sol_get_stack_height', 'sol_get_processed_sibling_instruction'],
  ].map((name) => [murmur3(name), name]),
);

const OP = { CALL: 0x85, CALL_REGISTER: 0x8d, EXIT: 0x95, JUMP: 0x05, LOAD_64: 0x18 };

/**
 * Refuses code that a loader may take and that fails only when it is called: jumps and calls that leave the code or land
 * inside an instruction, calls of what is not a function, unknown system calls, a last instruction that runs on.
 * @param {Buffer} code
 * @param {ReadonlySet<number> | null} functions where functions begin, in slots of eight bytes; null: unknown
 */
export function verifyCode(code, functions = null) {
  const slots = code.length / 8;
  const seconds = new Set();
  for (let at = 0; at < slots; at++) if (code[at * 8] === OP.LOAD_64) seconds.add(++at);
  const isInstruction = (slot) => slot >= 0 && slot < slots && !seconds.has(slot);
  let last = -1;
  for (let at = 0; at < slots; at++) {
    if (seconds.has(at)) continue;
    last = code[at * 8];
    const refuse = (what) => {
      throw new Error(`instruction ${at} ${what}`);
    };
    if (last === OP.LOAD_64 && at + 1 >= slots) refuse('is cut');
    if (last === OP.CALL_REGISTER) refuse('calls an address that is computed');
    if (last === OP.CALL) {
      const isSystemCall = code[at * 8 + 1] >> 4 === 0;
      const immediate = code.readInt32LE(at * 8 + 4);
      if (isSystemCall && !SYSTEM_CALLS.has(immediate >>> 0)) refuse('calls an unknown system call');
      const target = at + 1 + immediate;
      const isFunction = isInstruction(target) && (functions?.has(target) ?? true);
      if (!isSystemCall && !isFunction) refuse('calls what is not a function');
      continue;
    }
    const isJump = (last & 7) === 5 || ((last & 7) === 6 && last !== OP.EXIT);
    if (isJump && last !== OP.EXIT && !isInstruction(at + 1 + code.readInt16LE(at * 8 + 2)))
      refuse('jumps out of the code');
  }
  if (last !== OP.EXIT && last !== OP.JUMP) throw new Error('the last instruction runs on');
}

/** The ELF header, and a program header for each segment. */
function headersOf(entry, segments) {
  const headers = Buffer.alloc(EHDR + segments.length * PHDR);
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(headers);
  headers.writeUInt16LE(3, 16); // ET_DYN
  headers.writeUInt16LE(EM_BPF, 18);
  headers.writeUInt32LE(1, 20);
  headers.writeBigUInt64LE(entry, 24);
  headers.writeBigUInt64LE(BigInt(EHDR), 32);
  headers.writeUInt32LE(SBPF_VERSION, 48);
  [EHDR, PHDR, segments.length, SHDR, 0, 0].forEach((value, index) => {
    headers.writeUInt16LE(value, 52 + index * 2);
  });
  let offset = headers.length;
  segments.forEach(({ flags, address, bytes }, index) => {
    const header = EHDR + index * PHDR;
    const size = BigInt(bytes.length);
    headers.writeUInt32LE(1, header); // PT_LOAD
    headers.writeUInt32LE(flags, header + 4);
    [BigInt(offset), address, address, size, size, 8n].forEach((value, field) => {
      headers.writeBigUInt64LE(value, header + 8 + field * 8);
    });
    offset += bytes.length;
  });
  return headers;
}

/**
 * @param {Buffer} bytes of the relocatable object
 * @returns {Buffer} the program file
 */
export function link(bytes) {
  const object = readObject(bytes);
  const loaded = loadedSections(object.sections);
  const entry = object.symbols.find((symbol) => symbol.name === 'entrypoint');
  if (entry?.section !== loaded.code.index) throw new Error('no function named entrypoint');

  const code = Buffer.from(loaded.code.bytes);
  const constants = mergeConstants(loaded.constants);
  relocate(code, object, constants, loaded.code.index);
  const functions = object.symbols.filter(({ section, type }) => section === loaded.code.index && type === STT_FUNC);
  verifyCode(code, new Set(functions.map(({ value }) => value / 8)));
  const segments = [
    { flags: PF.READ, address: 0n, bytes: constants.bytes },
    { flags: PF.EXECUTE, address: CODE_REGION, bytes: code },
  ];
  const headers = headersOf(CODE_REGION + BigInt(entry.value), segments);
  return Buffer.concat([headers, constants.bytes, code]);
}

const [script, from, to] = process.argv.slice(1);
if (script && from && to && import.meta.url === pathToFileURL(realpathSync(script)).href)
  writeFileSync(to, link(readFileSync(from)));
