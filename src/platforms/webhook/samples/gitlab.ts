// Events of GitLab: docs.gitlab.com, "Webhook events".
import { JSON_TYPE, type Samples } from './sample.ts'

const project = {
  id: 1,
  name: 'Gitlab Test',
  web_url: 'https://gitlab.example.com/gitlab-org/gitlab-test',
  path_with_namespace: 'gitlab-org/gitlab-test',
}
const user = { id: 1, name: 'Administrator', username: 'root' }
const headers = (event: string, key: string) => ({
  ...JSON_TYPE,
  'user-agent': 'GitLab/18.2.0',
  'x-gitlab-event': event,
  'x-gitlab-instance': 'https://gitlab.example.com',
  'idempotency-key': key,
})

export const gitlab: Samples = {
  push: {
    headers: headers('Push Hook', 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f'),
    body: {
      object_kind: 'push',
      ref: 'refs/heads/main',
      user_name: 'Administrator',
      user_username: 'root',
      project,
      commits: [
        { id: 'b6568db1bc1dcd7f8b4d5a946b0b91f9dacd7327', title: 'Update Catalan translation to e38cb41.' },
        { id: 'da1560886d4f094c3e6c9ef40349f7d38b5d27d7', title: 'fixed readme' },
      ],
      total_commits_count: 2,
    },
  },
  merge_request: {
    headers: headers('Merge Request Hook', 'f5e5f430-f57b-4e6e-9fac-d9128cd72330'),
    body: {
      object_kind: 'merge_request',
      user,
      project,
      object_attributes: {
        id: 99,
        iid: 7,
        title: 'MS-Viewport',
        description: 'Makes the viewport follow the window.',
        state: 'opened',
        action: 'open',
        source_branch: 'ms-viewport',
        target_branch: 'main',
        url: 'https://gitlab.example.com/gitlab-org/gitlab-test/-/merge_requests/7',
      },
    },
  },
  note: {
    headers: headers('Note Hook', 'f5e5f430-f57b-4e6e-9fac-d9128cd72331'),
    body: {
      object_kind: 'note',
      user,
      project,
      object_attributes: {
        id: 1244,
        note: 'This MR needs work.',
        noteable_type: 'MergeRequest',
        url: 'https://gitlab.example.com/gitlab-org/gitlab-test/-/merge_requests/7#note_1244',
      },
      merge_request: { id: 99, iid: 7, title: 'MS-Viewport' },
    },
  },
  pipeline: {
    headers: headers('Pipeline Hook', 'f5e5f430-f57b-4e6e-9fac-d9128cd72332'),
    body: {
      object_kind: 'pipeline',
      object_attributes: {
        id: 31,
        ref: 'ms-viewport',
        status: 'failed',
        url: 'https://gitlab.example.com/gitlab-org/gitlab-test/-/pipelines/31',
      },
      merge_request: { id: 99, iid: 7, title: 'MS-Viewport' },
      user,
      project,
      builds: [
        { id: 380, stage: 'deploy', name: 'production', status: 'skipped' },
        { id: 377, stage: 'test', name: 'test-image', status: 'failed' },
      ],
    },
  },
}
