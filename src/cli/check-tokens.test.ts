// `check` tells of one token in two integrations: the platform would take the two for one.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { command, freshFolder } from './fixtures/fake-daemon.ts'

const { path, data } = freshFolder()

describe('[I18.token-twice] check', () => {
  const checked = async (first: string, second: string, more = '') => {
    const file = join(path(), 'switchboard.yaml')
    const of = (id: string, token: string) =>
      `  - { id: ${id}, platform: telegram, token: "${token}"${more} }`
    const bind = '{ plugin: telegram, instance: a }, { plugin: telegram, instance: b }'
    writeFileSync(
      file,
      `integrations:\n${of('a', first)}\n${of('b', second)}\nagents:\n  - { id: d, connector: { type: demo }, inbound_bindings: [${bind}] }\n`,
    )
    const told = await command(['check', '--json', file, ...data()])
    expect(told.code, told.err).toBe(0)
    const warnings = (told.lines[0] as { warnings: string[] }).warnings
    return warnings.filter((one) => one.includes('takes the two for one'))
  }
  const told =
    'integrations[1].token is the same as integrations[0].token: telegram takes the two for one account'

  it('tells by reference', async () => {
    expect(await checked('env:TG', 'env:TG')).toEqual([expect.stringContaining(told)])
    expect(await checked('secret:TG', 'secret:OTHER')).toEqual([])
  })

  it('tells by the value behind two references, once, and never prints it', async () => {
    writeFileSync(join(path(), 'a'), '123:planted\n')
    writeFileSync(join(path(), 'b'), '123:planted')
    const found = await checked('file:./a', 'file:./b')
    expect(found).toEqual([expect.stringContaining(told)])
    expect(found.join()).not.toContain('planted')
    expect(await checked('file:./a', 'file:./gone')).toEqual([])
  })

  it('is silent where one of the two is off, and where secrets only sign', async () => {
    expect(await checked('env:TG', 'env:TG', ', enabled: false')).toEqual([])
    const file = join(path(), 'hooks.yaml')
    const hook = (id: string) => `  - { id: ${id}, platform: webhook, secret: "env:S", signature: github }`
    writeFileSync(file, `integrations:\n${hook('a')}\n${hook('b')}\n`)
    expect((await command(['check', file, ...data()])).err).not.toContain('takes the two for one')
  })
})
