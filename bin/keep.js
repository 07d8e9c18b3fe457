const fs = require('node:fs');
const { dirname, join } = require('node:path');

const MONTH_MS = 30 * 86_400_000;

/**
 * Keeps compiled code in a folder, and with `mark` that of which command it holds. Where nothing can be written, nothing
 * is lost.
 */
exports.keep = ({ folder, ofUser, due, mark }) => {
  // What lies beside the chunks is for everybody who may read those.
  const write = (name, content) => writeWhole(join(folder, name), content, ofUser ? 0o600 : 0o644);
  try {
    if (ofUser && !makeOurs(folder)) return;
    if (!ofUser) fs.mkdirSync(folder, { recursive: true });
    for (const [chunk, script] of due) write(`${chunk}.bin`, script.createCachedData());
    if (mark) write(mark, '');
    if (ofUser) forgetOld(dirname(folder), folder);
  } catch {
    // A full disk, or a folder that somebody else has made.
  }
};

/** Makes a private folder below one that is this user's: as root with a user's HOME, say, nothing is made in it. */
function makeOurs(path) {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stat) return stat.isDirectory() && (process.getuid === undefined || stat.uid === process.getuid());
  if (dirname(path) === path || !makeOurs(dirname(path))) return false;
  fs.mkdirSync(path, { mode: 0o700 });
  return true;
}

/** Forgets what earlier versions have left and nobody has written to for a month. */
function forgetOld(all, kept) {
  for (const name of fs.readdirSync(all)) {
    const folder = join(all, name);
    if (folder === kept || Date.now() - fs.lstatSync(folder).mtimeMs < MONTH_MS) continue;
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function writeWhole(path, content, mode) {
  const whole = `${path}.${process.pid}`;
  const file = fs.openSync(whole, 'w', mode);
  try {
    fs.writeFileSync(file, content);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
  fs.renameSync(whole, path);
}
