// What the page of a real daemon is told about the house: who answers, and how large a file may be.
import { describe, expect, it } from 'vitest'
import { post } from '../faults/hook-client.ts'
import { askJson, createScene, switchboard } from '../faults/scene.ts'
import { writeYaml } from './admin.ts'

const scene = createScene()

const yaml = (agent: string, bytes: number) => `integrations:
  - { id: web, platform: web }
agents:
  - { id: ${agent}, connector: { type: demo }, inbound_bindings: [{ plugin: web, instance: web }] }
tunables: { max_body_bytes: ${bytes} }
`

describe('the web chat', () => {
  it('[I3.web-attachment-limit] names its agent and the limit of the server, also after a reload', async () => {
    const data = scene.folder()
    const daemon = await scene.start({ data, config: writeYaml(data, yaml('kate', 4_096)) })
    const { url } = await askJson<{ url: string }>(data, 'link')
    const json = { 'content-type': 'application/json', origin: daemon.url }
    const ticket = new URL(url).hash.replace('#ticket=', '')
    const entered = await post(`${daemon.url}/chat/session`, JSON.stringify({ ticket }), json)
    const headers = { origin: daemon.url, cookie: entered.headers.get('set-cookie')?.split(';')[0] ?? '' }
    const me = async () => (await fetch(`${daemon.url}/chat/me`, { headers })).json()
    const upload = async (bytes: number) =>
      (await post(`${daemon.url}/chat/upload?name=x.txt`, 'x'.repeat(bytes), headers)).status
    expect(await me()).toMatchObject({ agent: 'kate', limits: { upload_bytes: 4_096 } })
    expect([await upload(4_096), await upload(4_097)]).toEqual([200, 413])

    writeYaml(data, yaml('ada', 2_000_000))
    expect((await switchboard(data, 'reload')).code).toBe(0)
    expect(await me()).toMatchObject({ agent: 'ada', limits: { upload_bytes: 2_000_000 } })
    expect(await upload(1_500_000)).toBe(200)
  })
})
