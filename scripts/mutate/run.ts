// `npm run mutate`: changes the code one place at a time, and prints the changes that no test notices.
import { readdirSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { describe, mutate } from './mutate.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MOST_MINUTES = 60
/** Files where a wrong change would lose a message, admit a stranger, or report a wrong state. */
const TARGETS = /^src\/(core\/.*|store\/verbs\/.*|platforms\/[^/]+\/(verify|parse|send))\.ts$/

const HELP = `npm run mutate -- [options]

  --minutes N   at most so long (${MOST_MINUTES})
  --sample N    at most so many mutants
  --seed N      the order; printed at the end
  --only PATH   files under this path alone: src/core, src/store/verbs, src/platforms/telegram/send.ts
  --tests PATH  kill with the tests under it alone; may be repeated
  --json        one object at the end`

const { values } = readWords()
if (values.help) {
  console.log(HELP)
  process.exit(0)
}
const number = (name: 'minutes' | 'seed' | 'sample', text: string) => {
  const value = Number(text)
  if (text !== '' && value >= 0) return value
  console.error(`--${name} is a number, not "${text}"`)
  return process.exit(2)
}
const minutes = Math.min(MOST_MINUTES, number('minutes', values.minutes))
const seed = number('seed', values.seed)
const targets = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
  .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
  .filter((file) => TARGETS.test(file) && !/\.test\.ts$|\/fixtures\//.test(file))
  .filter((file) => file.startsWith(values.only))
  .sort()
if (targets.length === 0) {
  console.error(
    `Nothing under "${values.only}" is a target: src/core, src/store/verbs, and verify, parse and send of a platform.`,
  )
  process.exit(2)
}
const report = await mutate({
  root: ROOT,
  targets,
  seed,
  minutes,
  ...(values.sample === undefined ? {} : { sample: number('sample', values.sample) }),
  tests: ['--project', 'unit', ...values.tests],
  say: (line) => (values.json ? console.error(line) : console.log(line)),
})
if (values.json) console.log(JSON.stringify(report))
else {
  const survivors = report.tried.filter(({ fate }) => fate === 'survived' || fate === 'unreached')
  console.log(`\n${survivors.length} survivors${survivors.length > 0 ? ':' : ''}`)
  for (const one of survivors)
    console.log(`  ${describe(one)}${one.fate === 'unreached' ? '  (no test reaches it)' : ''}`)
  const unclear = report.tried.filter(({ fate }) => fate === 'unclear')
  if (unclear.length > 0) console.log('\nunclear, for their tests fail without the change too; not counted:')
  for (const one of unclear) console.log(`  ${describe(one)}`)
  const score = report.score === null ? 'none' : `${(report.score * 100).toFixed(1)} %`
  console.log(
    `\nscore ${score} of ${report.tried.length - unclear.length} tried (of ${report.mutants}), seed ${seed}, ${report.seconds} s`,
  )
}

/** Prints the problem of invalid arguments, and exits. */
function readWords() {
  try {
    return parseArgs({
      options: {
        minutes: { type: 'string', default: String(MOST_MINUTES) },
        seed: { type: 'string', default: String(Date.now() % 100_000) },
        sample: { type: 'string' },
        only: { type: 'string', default: '' },
        tests: { type: 'string', multiple: true, default: [] },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (thrown) {
    console.error(`${thrown instanceof Error ? thrown.message : thrown}\n\n${HELP}`)
    return process.exit(2)
  }
}
