// Events of Bitbucket Cloud: support.atlassian.com, "Event payloads".
import { JSON_TYPE, type Samples } from './sample.ts'

const repository = { full_name: 'team_name/repo_name', name: 'repo_name' }
const actor = { display_name: 'Emma', nickname: 'emmap1', type: 'user' }
const headers = (event: string, uuid: string) => ({
  ...JSON_TYPE,
  'user-agent': 'Bitbucket-Webhooks/2.0',
  'x-event-key': event,
  'x-request-uuid': uuid,
  'x-attempt-number': '1',
})
const pullrequest = {
  id: 1,
  title: 'Title of pull request',
  description: 'Description of pull request',
  state: 'OPEN',
  links: { html: { href: 'https://bitbucket.org/team_name/repo_name/pull-requests/1' } },
}

export const bitbucket: Samples = {
  'repo:push': {
    headers: headers('repo:push', 'd1c5a6ea-6a3e-4d6c-8d8a-5a2b9b1f0001'),
    body: {
      actor,
      repository,
      push: {
        changes: [
          {
            new: { type: 'branch', name: 'name-of-branch' },
            old: { type: 'branch', name: 'name-of-branch' },
            closed: false,
            commits: [{ hash: '03f4a7270240708834de475bcf21532d6134777e', message: 'commit message\n' }],
          },
        ],
      },
    },
  },
  'pullrequest:created': {
    headers: headers('pullrequest:created', 'd1c5a6ea-6a3e-4d6c-8d8a-5a2b9b1f0002'),
    body: { actor, repository, pullrequest },
  },
  'pullrequest:comment_created': {
    headers: headers('pullrequest:comment_created', 'd1c5a6ea-6a3e-4d6c-8d8a-5a2b9b1f0003'),
    body: {
      actor,
      repository,
      pullrequest,
      comment: {
        id: 17,
        content: { raw: 'Comment text' },
        links: { html: { href: 'https://bitbucket.org/team_name/repo_name/pull-requests/1#comment-17' } },
      },
    },
  },
}
