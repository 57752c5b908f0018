#!/usr/bin/env node
// The command line's front door: `switchboard` and `swb`. Sets the exit code and lets the streams drain.
import { run } from './run.ts'
import { createProcessTerminal } from './terminal.ts'

// From Node 21 on one of grammy's own dependencies loads a module that Node calls outdated, and Node would say so in the middle of our
// log, which is one JSON object a line. Whoever runs this can do nothing about it.
process.noDeprecation = true

process.exitCode = await run(process.argv.slice(2), createProcessTerminal())

// Something that was left open must not keep a finished command; a slow reader of our output may.
setInterval(() => {
  if (process.stdout.writableLength === 0) process.exit()
}, 2_000).unref()
