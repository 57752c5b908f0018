// `npm run matrix`: runs the tests on every supported line of Node, one after the other. npm fetches each Node into a
// temporary folder. Versions may be named (`npm run matrix -- 22 24`). Arguments after `--` go to the tests.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const LINES = ['20', '22', '24']
const root = fileURLToPath(new URL('..', import.meta.url))
const given = process.argv.slice(2)
if (given.includes('--help')) {
  console.log(`npm run matrix [-- VERSION… [-- FILTER…]]   without a version: ${LINES.join(', ')}`)
  process.exit(0)
}
const rest = given.indexOf('--')
const named = rest === -1 ? given : given.slice(0, rest)
const forTests = rest === -1 ? [] : given.slice(rest + 1)
const wrong = named.find((one) => !/^\d+(\.\d+){0,2}$/.test(one))
if (wrong !== undefined) {
  console.error(
    `"${wrong}" is no version of Node; give some of ${LINES.join(', ')}, and -- before what is for the tests`,
  )
  process.exit(2)
}

const results = []
for (const version of named.length > 0 ? named : LINES) {
  const began = Date.now()
  const folder = mkdtempSync(join(tmpdir(), `sb-node-${version}-`))
  try {
    const code = runOn(fetchNode(version, folder))
    results.push({ version, code, seconds: Math.round((Date.now() - began) / 1000) })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
console.log('')
for (const { version, code, seconds } of results)
  console.log(`Node ${version.padEnd(8)} ${code === 0 ? 'passed' : 'FAILED'}  ${seconds} s`)
process.exit(results.every(({ code }) => code === 0) ? 0 : 1)

/** Returns the program. Prints the reason and returns null if there is none for this machine. */
function fetchNode(version, folder) {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const name = `node-${platform}-${process.arch}`
  const args = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `${name}@${version}`]
  const fetched = spawnSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  const program = join(
    folder,
    'node_modules',
    name,
    'bin',
    process.platform === 'win32' ? 'node.exe' : 'node',
  )
  if (fetched.status === 0 && existsSync(program)) return program
  console.error(`Node ${version} cannot be fetched as ${name}: ${fetched.stderr ?? fetched.error?.message}`)
  return null
}

function runOn(program) {
  if (program === null) return 1
  const asked = spawnSync(program, ['--version'], { encoding: 'utf8' })
  console.log(`\nNode ${asked.stdout.trim()}`)
  const env = { ...process.env, PATH: [dirname(program), process.env.PATH ?? ''].join(delimiter) }
  const done = spawnSync(program, [join(root, 'scripts/test.mjs'), ...forTests], {
    cwd: root,
    env,
    stdio: 'inherit',
  })
  return done.status ?? 1
}
