import { spawn } from '@lydell/node-pty';

/**
 * Pseudo-terminals, one after another, in a process of their own: their native half ends a process now and then that makes
 * many of them beside much else, and then only the screen that is open is lost.
 */

let pty = null;
process.on('message', ({ file, args, options, type, columns, rows, signal }) => {
  if (file !== undefined) pty = opened(file, args, options);
  if (type !== undefined) pty?.write(type);
  if (columns !== undefined) pty?.resize(columns, rows);
  if (signal !== undefined) pty?.kill(signal);
});
process.on('disconnect', () => process.exit(0));

function opened(file, args, options) {
  const made = spawn(file, args, options);
  made.onData((data) => process.send({ data }));
  made.onExit(({ exitCode, signal }) => {
    pty = null;
    process.send({ exitCode: signal ? -1 : exitCode });
  });
  return made;
}
