// A real daemon with the connector claude-code and the double as its program: killed in mid-turn, in mid-approval and after
// the answer was written; the answer comes all the same, no tool runs twice, and no program stays behind.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { post, postDemo } from './hook-client.ts'
import { expectLedgerHolds, sendsOf, settled, turnsOf } from './river-checks.ts'
import { askJson, askLines, createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const DOUBLE = fileURLToPath(
  new URL('../../src/agents/claude-code/fixtures/claude-double.mjs', import.meta.url),
)

interface Program {
  readonly pid: number
  readonly name: string
}
interface Doctor {
  readonly agents: readonly { readonly id: string; readonly processes?: readonly Program[] }[]
}
interface Pending {
  readonly id: string
  readonly state: string
  readonly description: string
}

function world(options = '') {
  const data = scene.folder()
  const [config, command, work] = ['switchboard.yaml', 'claude', 'work'].map((name) => join(data, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${DOUBLE}" "$@"\n`)
  chmodSync(command, 0o755)
  mkdirSync(work)
  writeFileSync(
    config,
    `integrations:
  - { id: demo, platform: webhook, sender_header: X-Sender, two_way: true, access: { allow_from: [dev], approvers: [dev] } }
agents:
  - id: claude
    inbound_bindings: [{ plugin: webhook, instance: demo }]
    connector: { type: claude-code, command: ${command}, cwd: ${work}, env: { HOME: ${data} }${options} }
`,
  )
  const ran = () =>
    existsSync(join(work, 'ran.log')) ? readFileSync(join(work, 'ran.log'), 'utf8').trim().split('\n') : []
  const programs = async () => (await askJson<Doctor>(data, 'doctor')).agents[0]?.processes ?? []
  const pending = () =>
    until('an approval', async () =>
      (await askLines<Pending>(data, 'approvals')).find(({ state }) => state === 'pending'),
    )
  const decide = async (id: string) => {
    const told = await switchboard(data, 'approvals', 'allow', id)
    expect(told.code, told.stderr).toBe(0)
  }
  const isAlive = (pid: number) =>
    existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  const said = async () => (await sendsOf(data)).map(({ text }) => text)
  return { data, config, ran, programs, pending, decide, isAlive, said }
}

it('[I22.cc-reply-on] [I22.cc-killed] [I22.keep-killed] [I22.keep-doctor] [I22.cc-final] killed in mid-tool: it goes on, nothing runs twice, nothing stays behind', async () => {
  const { data, config, ran, programs, pending, decide, isAlive, said } = world()
  const first = await scene.start({ data, config })
  expect((await postDemo(first.url, 'reply said by the tool', 'm0')).status).toBe(200)
  await until('the reply', async () => (await said()).includes('said by the tool'))
  await until('it is settled', async () => (await turnsOf(data)).every(({ state }) => state === 'answered'))
  expect(await said()).not.toContain('I have replied.')
  // A reply in the middle is not the end: it may still ask, and what it ends with is not said as well.
  await postDemo(first.url, 'reply-call soon', 'm0b')
  const asked = await pending()
  expect((await turnsOf(data)).filter(({ state }) => state !== 'answered')).toMatchObject([{ state: 'seen' }])
  await decide(asked.id)
  await until('it is settled', async () => (await turnsOf(data)).every(({ state }) => state === 'answered'))
  expect(ran()).toEqual(['make soon'])
  expect((await said()).some((text) => text.includes('ran make soon'))).toBe(false)
  await postDemo(first.url, 'call Bash {"command":"make first"}', 'm1')
  await decide((await pending()).id)
  await until('the first answer', async () => (await said()).some((text) => text.includes('ran make first')))
  await postDemo(first.url, 'call Bash {"command":"sleep 100000"}', 'm2')
  await decide((await pending()).id)
  const [program] = await until('doctor shows it', async () => {
    const all = await programs()
    return all.length > 0 && all
  })
  const pid = program?.pid ?? 0
  expect(isAlive(pid)).toBe(true)
  await first.kill9()
  await until('the watcher ended it', () => !isAlive(pid))
  const second = await scene.start({ data, config })
  await until('it went on', async () => (await turnsOf(data)).every(({ state }) => state === 'answered'))
  expect((await said()).filter((text) => text.startsWith('I went on'))).toEqual([
    'I went on. 1 calls are without a result.',
  ])
  expect(ran()).toEqual(['make soon', 'make first'])
  await settled(data)
  await second.terminate()
  expect(readdirSync(join(data, 'processes'))).toEqual([])
  await expectLedgerHolds(data)
})

it('[I22.cc-killed-ask] [I22.ask-over] killed in mid-approval: the tool has not run, and a verdict on the old question runs nothing', async () => {
  const { data, config, ran, pending, said } = world()
  const first = await scene.start({ data, config })
  await postDemo(first.url, 'call Bash {"command":"touch x"}', 'm1')
  const { id } = await pending()
  await first.kill9()
  const second = await scene.start({ data, config })
  await until('it went on', async () => (await said()).some((text) => text.startsWith('I went on')))
  await until('the turn is answered', async () =>
    (await turnsOf(data)).every(({ state }) => state === 'answered'),
  )
  // Its turn is over, and with it the question: nobody is asked in vain until it expires.
  const stateOf = async () =>
    (await askLines<Pending>(data, 'approvals', 'list', '--all')).find((one) => one.id === id)?.state
  await until('the old question is withdrawn', async () => (await stateOf()) === 'withdrawn')
  await switchboard(data, 'approvals', 'allow', id)
  await settled(data)
  expect(ran()).toEqual([])
  await second.terminate()
  await expectLedgerHolds(data)
})

it('[I22.cc-asked] [I22.anew-durable] killed in mid-tool with the transcript gone: a person is asked, once, across another kill, and a word begins it anew', async () => {
  const { data, config, ran, pending, decide, said } = world()
  const first = await scene.start({ data, config })
  await postDemo(first.url, 'hello', 'm0')
  await until('an answer', async () => (await said()).includes('You said: hello'))
  await postDemo(first.url, 'call Bash {"command":"sleep 9000"}', 'm1')
  await decide((await pending()).id)
  await until('it is seen', async () => (await turnsOf(data)).some(({ state }) => state === 'seen'))
  await first.kill9()
  rmSync(join(data, '.claude'), { recursive: true })
  const second = await scene.start({ data, config })
  const asked = await pending()
  expect((await said()).some((text) => text.includes('begin the message anew'))).toBe(true)
  expect((await said()).filter((text) => text.includes('could not be found'))).toHaveLength(1)
  await second.kill9()
  const third = await scene.start({ data, config })
  // What comes meanwhile is answered; the question stays the same one.
  await postDemo(third.url, 'hello again', 'm2')
  await until('an answer', async () => (await said()).includes('You said: hello again'))
  expect((await pending()).id).toBe(asked.id)
  await postDemo(third.url, `yes ${asked.id}`, 'm3')
  // The same call was allowed and begun before: it is asked again, says so, and runs by the new yes alone.
  const again = await until('it is asked again', async () =>
    (await askLines<Pending>(data, 'approvals')).find(
      ({ id, state }) => state === 'pending' && id !== asked.id,
    ),
  )
  expect(again.description).toContain('It may already have run')
  expect(ran()).toEqual([])
  await decide(again.id)
  await until('the answer', async () => (await said()).some((text) => text.includes('ran sleep 9000')))
  expect(ran()).toEqual(['sleep 9000'])
  expect(
    (await said()).filter((text) => text.includes('yes ID') || text.includes(`yes ${asked.id}`)),
  ).toHaveLength(1)
  await settled(data)
  await third.terminate()
  await expectLedgerHolds(data)
})

it('[I35.b27-reason] with max_processes taken by an unanswered approval, the turn that waits says so in turns and doctor, and goes on', async () => {
  const { data, config, pending, said } = world(', max_processes: 1')
  // One conversation each; the demo webhook has one for each sender.
  writeFileSync(
    config,
    readFileSync(config, 'utf8').replace('allow_from: [dev]', 'allow_from: [dev, ann, bo]'),
  )
  const daemon = await scene.start({ data, config })
  const says = (sender: string, text: string) =>
    post(`${daemon.url}/hooks/demo`, text, { 'x-sender': sender }).then(({ status }) =>
      expect(status).toBe(200),
    )
  await says('dev', 'call Bash {"command":"make one"}')
  const asked = await pending()
  await says('ann', 'call Bash {"command":"make two"}')
  await until('both ask', async () => {
    const all = await askLines<Pending>(data, 'approvals')
    return all.filter(({ state }) => state === 'pending').length === 2
  })
  await says('bo', 'hello')
  const waits = async () => (await turnsOf(data)).find(({ text }) => text === 'hello')
  await until('the third waits', async () => (await waits())?.reason === 'agent_busy')
  const doctor = await switchboard(data, 'doctor', '--json')
  const { problems } = JSON.parse(doctor.stdout) as { problems: { subject: string; text: string }[] }
  expect(doctor.code).toBe(1)
  expect(problems.filter(({ subject }) => subject === 'agent claude').map(({ text }) => text)).toContain(
    'agent claude: 1 processes run already (max_processes): messages wait for a place',
  )
  await switchboard(data, 'approvals', 'deny', asked.id)
  await until('its turn comes', async () => (await waits())?.state === 'answered')
  expect((await said()).length).toBeGreaterThanOrEqual(2)
  await daemon.terminate()
})
