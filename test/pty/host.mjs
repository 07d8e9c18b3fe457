import { spawn } from '@lydell/node-pty';

/**
 * One pseudo-terminal in a process of its own: its native half ends a process now and then that makes many of them
 * beside much else, and then no test is lost.
 */

process.once('message', ({ file, args, options }) => {
  const pty = spawn(file, args, options);
  process.send({ pid: pty.pid });
  pty.onData((data) => process.send({ data }));
  pty.onExit(({ exitCode, signal }) => {
    process.send({ exitCode: signal ? -1 : exitCode }, () => process.exit(0));
  });
  process.on('message', ({ type, columns, rows, signal }) => {
    if (type !== undefined) pty.write(type);
    if (columns !== undefined) pty.resize(columns, rows);
    if (signal !== undefined) pty.kill(signal);
  });
});
process.on('disconnect', () => process.exit(0));
