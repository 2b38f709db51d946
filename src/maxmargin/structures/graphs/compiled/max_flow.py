"""Maximum flow by two search trees, one from the source and one from the sink (Boykov and Kolmogorov 2004).

Where the trees meet, there is a path that can be augmented. Arcs that it saturates cut branches off their tree; each
orphaned node looks for another parent, and becomes free if there is none. The trees are kept from path to path, which
suits graphs of images: many nodes of low degree, short paths.

The source and the sink are not nodes. supply[i] > 0 is the residual capacity from the source to node i, supply[i] < 0
minus that from node i to the sink. capacity[a] is the residual capacity of arc a. Capacities of at most `tol` count as
0, so that rounding cannot make the search endless: every path carries more than tol.
"""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel

FREE, SOURCE, SINK = 0, 1, 2  # the trees
AT_TERMINAL, ORPHAN = -1, -2  # values for nodes without an arc to a parent
FAR = 1 << 30


@kernel
def rooted(i, parent, head, stamp, depth, now):
    """Return the number of steps from a node to its terminal, FAR if it leads to an orphan; nodes on the way store it.

    stamp[i] = now means that depth[i] is valid since the last augmentation.
    """
    steps = 0
    j = i
    while True:
        if stamp[j] == now:
            steps += depth[j]
            break
        if parent[j] == ORPHAN:
            return FAR
        if parent[j] == AT_TERMINAL:
            stamp[j] = now
            depth[j] = 1
            steps += 1
            break
        j = head[parent[j]]
        steps += 1
    left = steps
    j = i
    while stamp[j] != now:
        stamp[j] = now
        depth[j] = left
        left -= 1
        j = head[parent[j]]
    return steps


@kernel
def augment(meeting, supply, capacity, head, reverse, parent, orphans, tol):
    """Send the largest possible flow along the path through an arc from the source's tree to the sink's.

    Write the nodes whose arc to the parent is saturated to `orphans`; return their number.
    """
    most = capacity[meeting]
    i = head[reverse[meeting]]
    while parent[i] != AT_TERMINAL:
        most = min(most, capacity[reverse[parent[i]]])
        i = head[parent[i]]
    most = min(most, supply[i])
    i = head[meeting]
    while parent[i] != AT_TERMINAL:
        most = min(most, capacity[parent[i]])
        i = head[parent[i]]
    most = min(most, -supply[i])

    count = 0
    capacity[meeting] -= most
    capacity[reverse[meeting]] += most
    i = head[reverse[meeting]]
    while parent[i] != AT_TERMINAL:
        a = parent[i]
        capacity[a] += most
        capacity[reverse[a]] -= most
        if capacity[reverse[a]] <= tol:
            parent[i] = ORPHAN
            orphans[count] = i
            count += 1
        i = head[a]
    supply[i] -= most
    if supply[i] <= tol:
        parent[i] = ORPHAN
        orphans[count] = i
        count += 1
    i = head[meeting]
    while parent[i] != AT_TERMINAL:
        a = parent[i]
        capacity[reverse[a]] += most
        capacity[a] -= most
        if capacity[a] <= tol:
            parent[i] = ORPHAN
            orphans[count] = i
            count += 1
        i = head[a]
    supply[i] += most
    if -supply[i] <= tol:
        parent[i] = ORPHAN
        orphans[count] = i
        count += 1
    return count


@kernel
def max_flow(n_nodes, bounds, head, reverse, supply, capacity, tol, work):
    """Fill the graph with the largest flow from source to sink, in place.

    Afterwards work[0, i] == SOURCE for exactly the nodes that the source can still reach and SINK for exactly those
    that can still reach the sink; the cut between the former and the others is the least one. `work` has seven rows
    with a number for each node.
    """
    tree, parent, stamp, depth = work[0], work[1], work[2], work[3]
    waiting, queued, orphans = work[4], work[5], work[6]
    begin, count = 0, 0  # `waiting` is a ring of nodes whose neighbours may be free or of the other tree
    for i in range(n_nodes):
        stamp[i] = 0
        depth[i] = 1
        queued[i] = 0
        tree[i] = FREE
        if supply[i] > tol or -supply[i] > tol:
            tree[i] = SOURCE if supply[i] > tol else SINK
            parent[i] = AT_TERMINAL
            waiting[count] = i
            queued[i] = 1
            count += 1
    now = 0
    while count > 0:
        i = waiting[begin]
        # grow the tree from node i until it meets the other one
        meeting = -1
        if tree[i] != FREE:
            from_source = tree[i] == SOURCE
            for a in range(bounds[i], bounds[i + 1]):
                if capacity[a if from_source else reverse[a]] <= tol:
                    continue
                j = head[a]
                if tree[j] == FREE:
                    tree[j] = tree[i]
                    parent[j] = reverse[a]
                    stamp[j] = stamp[i]
                    depth[j] = depth[i] + 1
                    if not queued[j]:
                        waiting[(begin + count) % n_nodes] = j
                        queued[j] = 1
                        count += 1
                elif tree[j] != tree[i]:
                    meeting = a if from_source else reverse[a]
                    break
                elif stamp[j] <= stamp[i] and depth[j] > depth[i]:  # closer to the terminal by way of i
                    parent[j] = reverse[a]
                    stamp[j] = stamp[i]
                    depth[j] = depth[i] + 1
        if meeting < 0:
            begin = (begin + 1) % n_nodes
            count -= 1
            queued[i] = 0
            continue
        torn = augment(meeting, supply, capacity, head, reverse, parent, orphans, tol)
        now += 1
        # every orphan looks for the neighbour of its tree that is nearest to the terminal
        first = 0
        while torn > 0:
            i = orphans[first]
            first = (first + 1) % n_nodes
            torn -= 1
            in_source = tree[i] == SOURCE
            nearest, least = -1, FAR
            for a in range(bounds[i], bounds[i + 1]):
                j = head[a]
                if tree[j] == tree[i] and capacity[reverse[a] if in_source else a] > tol:
                    steps = rooted(j, parent, head, stamp, depth, now)
                    if steps < least:
                        nearest, least = a, steps
            if nearest >= 0:
                parent[i] = nearest
                stamp[i] = now
                depth[i] = least + 1
                continue
            for a in range(bounds[i], bounds[i + 1]):
                j = head[a]
                if tree[j] != tree[i]:
                    continue
                if capacity[reverse[a] if in_source else a] > tol and not queued[j]:  # it may adopt i later
                    waiting[(begin + count) % n_nodes] = j
                    queued[j] = 1
                    count += 1
                if parent[j] >= 0 and head[parent[j]] == i:
                    parent[j] = ORPHAN
                    orphans[(first + torn) % n_nodes] = j
                    torn += 1
            tree[i] = FREE
    return now


@kernel
def components(n_nodes, bounds, head, capacity, tol, skip, component, low, stack, path, arc):
    """Number the strongly connected components of the arcs with residual capacity (Tarjan 1972).

    An arc from one component to another leads to the one with the lower number. Nodes with skip[i] != 0 and their arcs
    are left out; their number is -1. Return the number of components.
    Scratch, one number for each node: low, stack, path, arc.
    """
    for i in range(n_nodes):
        component[i] = -1
        low[i] = -1
    found, visits, height = 0, 0, 0
    for start in range(n_nodes):
        if skip[start] or low[start] >= 0:
            continue
        length = 1
        path[0] = start
        low[start] = visits
        visits += 1
        arc[start] = bounds[start]
        stack[height] = start
        height += 1
        # `component` holds -2 - (number of the visit) until the node's component is known
        component[start] = -2 - low[start]
        while length > 0:
            i = path[length - 1]
            if arc[i] < bounds[i + 1]:
                a = arc[i]
                arc[i] += 1
                j = head[a]
                if skip[j] or capacity[a] <= tol:
                    continue
                if low[j] < 0:
                    low[j] = visits
                    component[j] = -2 - visits
                    visits += 1
                    arc[j] = bounds[j]
                    stack[height] = j
                    height += 1
                    path[length] = j
                    length += 1
                elif component[j] < -1:  # still on the stack
                    low[i] = min(low[i], -2 - component[j])
                continue
            length -= 1
            if length > 0:
                low[path[length - 1]] = min(low[path[length - 1]], low[i])
            if low[i] == -2 - component[i]:
                while True:
                    height -= 1
                    j = stack[height]
                    component[j] = found
                    if j == i:
                        break
                found += 1
    return found
