// SIGTERM drains and SIGHUP reloads: what was acknowledged is kept, and a broken file changes nothing but what is said.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readEvents } from './event-reader.ts'
import { acknowledged, type Message, postCrowd, postDemo } from './hook-client.ts'
import { expectAllAnswered, expectLedgerHolds, type Status, settled } from './river-checks.ts'
import { askJson, createScene, crowdConfig, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

describe('SIGTERM', () => {
  it('[I2.drain-sigterm] [S16.503-draining] [I2.structured-logs] drains under load: exit 0, and every 200 is kept', async () => {
    const data = scene.folder()
    const config = crowdConfig(data)
    const daemon = await scene.start({ data, config })
    const kept = new Map<string, { id: string; message: Message }>()
    const refused: string[] = []
    let stopped = false
    const write = async (conversation: string) => {
      for (let n = 0; !stopped; n += 1) {
        const message = { conversation, key: `${conversation}-${n}`, text: `${conversation} ${n}` }
        const posted = await postCrowd(daemon.url, message).catch(() => null)
        if (posted?.status === 200) kept.set(message.key, { id: acknowledged(posted).id, message })
        else refused.push(posted === null ? 'no answer' : `${posted.status} ${posted.text}`)
        if (posted === null) return
      }
    }
    const writing = Promise.all(Array.from({ length: 12 }, (_, at) => write(`talk${at}`)))
    await until('messages flow', () => kept.size > 100)
    const exit = await daemon.terminate()
    stopped = true
    await writing

    expect(exit).toEqual({ code: 0, signal: null })
    for (const why of refused) expect(why).toMatch(/^(no answer|503 .*"code":"(draining|store_unavailable)")/)
    expect(daemon.log().map((line) => line.msg)).toEqual(expect.arrayContaining(['draining', 'stopped']))
    expect(daemon.log().filter((line) => line.level >= 50)).toEqual([])

    await scene.start({ data, config })
    await settled(data)
    await expectAllAnswered(data, kept)
    await expectLedgerHolds(data)
  })

  it('[I2.drain-sigterm] ends open streams and leaves no trace of a running daemon', async () => {
    const data = scene.folder()
    const daemon = await scene.start({ data })
    const reader = readEvents(() => `${daemon.url}/hooks/demo/events`, { 'x-sender': 'dev' })
    scene.onEnd(() => reader.stop())
    await until('the reader watches', () => reader.connections() === 1)
    expect(await daemon.terminate()).toEqual({ code: 0, signal: null })
    const status = await askJson<Status>(data, 'status')
    expect(status.ready).toBe(false)
  })

  it('[I2.structured-logs] [S14.cli-up] writes JSON lines to stderr and one JSON line to stdout', async () => {
    const data = scene.folder()
    const daemon = await scene.start({ data })
    const [line] = daemon.log()
    expect(line).toMatchObject({ level: 30, msg: 'switchboard is ready', url: daemon.url })
    expect(Date.parse(line?.time ?? '')).not.toBeNaN()
    expect(new URL(daemon.url).hostname).toBe('127.0.0.1')
  })
})

describe('SIGHUP', () => {
  it('[S3.reload-sighup] [S3.reload-keeps-old] [S3.reload-said] a broken file keeps the old configuration, and status says so', async () => {
    const data = scene.folder()
    const config = crowdConfig(data)
    const daemon = await scene.start({ data, config })
    const before = await askJson<Status & { config: { digest: string } }>(data, 'status', '--config', config)
    writeFileSync(config, 'integrations:\n  - { id: crowd, platfrom: webhook }\n')
    daemon.signal('SIGHUP')
    const status = await until('status tells the problem', async () => {
      const now = await askJson<Status & { config: { digest: string } }>(data, 'status', '--config', config)
      return now.config.problem === null ? null : now
    })
    expect(status.config.problem).toMatch(/switchboard\.yaml:2:\d+/)
    expect(status.config.problem).toContain('platfrom')
    expect(status.config.digest).toBe(before.config.digest)
    await until('the log tells it', () =>
      daemon.log().some((line) => line.by === 'SIGHUP' && /old one stays/.test(line.msg)),
    )
    const message = { conversation: 'ada', key: 'k1', text: 'still here' }
    expect((await postCrowd(daemon.url, message)).status).toBe(200)
    const forPeople = await switchboard(data, 'status', '--config', config)
    expect(forPeople.stdout).toContain('configuration problem:')
    const doctor = await switchboard(data, 'doctor', '--json', '--config', config)
    expect(JSON.parse(doctor.stdout)).toMatchObject({ config: { problem: status.config.problem } })

    crowdConfig(data)
    daemon.signal('SIGHUP')
    await until('the problem is gone', async () => {
      const now = await askJson<Status>(data, 'status', '--config', config)
      return now.config.problem === null
    })
    expect((await postCrowd(daemon.url, { ...message, key: 'k2' })).status).toBe(200)
  })

  it('[S16.config-exit-2] [S14.cli-exit-codes] a start with a broken file ends with 2, line, column and hint', async () => {
    const data = scene.folder()
    const config = join(data, 'switchboard.yaml')
    writeFileSync(config, 'server: { prot: 4747 }\n')
    const ran = await switchboard(data, 'up', '--config', config)
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toMatch(/switchboard\.yaml:1:11/)
    expect(ran.stderr).toContain('port')
    expect(ran.stderr).toContain('hint:')
  })

  it('[S14.loopback] refuses a public address without an admin token, and takes no message there', async () => {
    const data = scene.folder()
    const ran = await switchboard(data, 'up', '--host', '0.0.0.0', '--port', '0')
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toContain('admin token')
    const daemon = await scene.start({ data })
    expect((await postDemo(daemon.url, 'on loopback')).status).toBe(200)
  })
})
